"""What can be told of shards and members to whoever looks: pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member, as this replica sees it."""

    host: str
    tenure: str
    weight: int
    shards: tuple[int, ...] = ()
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
