"""The state of shards and members for metrics, probes and the page: pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rolecall.extensions.shards.sightings import Hold, Sightings


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member, as this replica sees it."""

    host: str
    tenure: str
    weight: int
    parts: tuple[int, ...] = ()
    runs_per_min: float = 0.0
    seen_age_s: float = 0.0  # since this replica saw it renewed
    is_leaving: bool = False
    is_self: bool = False
    version: str = ""


@dataclass(frozen=True, slots=True)
class ShardsView:
    """Who has what."""

    count: int
    members: tuple[MemberView, ...] = ()
    unheld: Mapping[int, float] = field(default_factory=dict)  # shard: seconds since when
    why_not: str = ""  # why no replica of this kind may work now; empty: it may


def view_of(
    sightings: Sightings, count: int, own_tenure: str, why_not: str, now: float
) -> ShardsView:
    """The observed state, without assumptions: a shard without a living holder has no holder here."""
    held: dict[str, list[int]] = {}
    for shard, record in sorted(sightings.listed.shards.items()):
        if sightings.hold_of(shard) is Hold.HELD:
            held.setdefault(record.tenure, []).append(shard)
    members = tuple(
        MemberView(
            host=member.host,
            tenure=member.tenure,
            weight=member.weight,
            parts=tuple(held.get(member.tenure, ())),
            runs_per_min=member.runs_per_min,
            seen_age_s=sightings.member_age(member.tenure, now),
            is_leaving=member.is_leaving,
            is_self=member.tenure == own_tenure,
            version=member.release,
        )
        for member in sightings.listed.members.values()
        if sightings.is_living(member)
    )
    unheld = sightings.unheld(now)
    return ShardsView(count, tuple(sorted(members, key=_by_name)), unheld, why_not)


def _by_name(member: MemberView) -> tuple[str, str]:
    return member.host, member.tenure
