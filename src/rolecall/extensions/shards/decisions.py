"""The steps that this member must take after it listed the Leases: a pure function of their observed
states, and of the time since when each was observed.

Promise: a member takes a shard at once only if no replica can write for it (`Hold.FREE`), and otherwise
only after it observed the shard in the same state for as long as any lease lasts. Only the winner takes
a shard, so members do not race; while they disagree, the versions of Leases decide.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from rolecall.extensions.shards.lease_shapes import MemberRecord, ShardRecord
from rolecall.extensions.shards.rendezvous import winners
from rolecall.extensions.shards.sightings import Hold, Sightings


@dataclass(frozen=True, slots=True)
class Standing:
    """This member, while it decides."""

    tenure: str
    lease_s: float
    retry_s: float
    is_leaving: bool
    may_take: bool  # the mode is ours, and so is our own Lease
    claimed: Collection[int]
    in_flight: Collection[int]  # a write of ours is under way, so what is listed may be old


@dataclass(slots=True)
class Steps:
    """What is to be done now."""

    create: list[int] = field(default_factory=list)
    take: list[ShardRecord] = field(default_factory=list)
    # We waited for the lease, and release it for the winner, which may have just joined and then need
    # not wait again.
    free: list[ShardRecord] = field(default_factory=list)
    give: set[int] = field(default_factory=set)  # claimed, and for another member
    keep: set[int] = field(default_factory=set)  # claimed, and for us
    bury: list[MemberRecord] = field(default_factory=list)
    sweep: list[MemberRecord] = field(default_factory=list)
    next_s: float = float("inf")  # when time alone may ask for more

    def in_at_most(self, seconds: float) -> None:
        self.next_s = min(self.next_s, seconds)


def decide(sightings: Sightings, own: Standing, count: int, now: float) -> Steps:
    """All steps of one look."""
    steps = Steps()
    wanted = winners(count, _weights(sightings, own))
    for shard in range(count):
        if shard in own.in_flight:
            continue
        if shard in own.claimed:
            is_ours = wanted[shard] == own.tenure or not (wanted[shard] or own.is_leaving)
            (steps.keep if is_ours else steps.give).add(shard)
        else:
            _decide_unclaimed(steps, sightings, own, shard, wanted[shard], now)
    _bury(steps, sightings, own, now)
    return steps


def _weights(sightings: Sightings, own: Standing) -> dict[str, int]:
    """Who may have shards at all."""
    return {
        member.tenure: member.weight
        for member in sightings.listed.members.values()
        if sightings.is_living(member)
        and not member.is_leaving
        and not (member.tenure == own.tenure and own.is_leaving)
    }


def _decide_unclaimed(
    steps: Steps, sightings: Sightings, own: Standing, shard: int, winner: str, now: float
) -> None:
    hold, record = sightings.hold_of(shard), sightings.listed.shards.get(shard)
    is_for_us = winner == own.tenure
    if record is None:
        # Its winner may be gone, which others know only after a lease; then any member creates it.
        left_s = 0.0 if is_for_us else own.retry_s - sightings.shard_age(shard, now)
        if left_s > 0:
            steps.in_at_most(left_s)
        else:
            steps.create.append(shard)
        return
    if hold is Hold.FREE:
        if is_for_us and own.may_take:
            steps.take.append(record)
        return
    # The Lease names us, but we did not take it: only we can resolve this.
    is_named_ours = record.tenure == own.tenure and not own.is_leaving
    if not is_named_ours and hold is not Hold.UNCLEAR:
        return
    is_for_us = is_for_us or is_named_ours
    left_s = _wait_left(sightings, own, record, now)
    if not is_for_us:
        left_s += own.retry_s / 2  # its winner comes first
    if left_s > 0:
        steps.in_at_most(left_s)
    elif own.may_take:
        (steps.take if is_for_us else steps.free).append(record)


def _wait_left(sightings: Sightings, own: Standing, record: ShardRecord, now: float) -> float:
    """How much longer a shard must stay unchanged before any member may take it."""
    patience_s = max(sightings.longest_lease(own.lease_s), record.lasts_s)
    return patience_s - sightings.shard_age(record.shard, now)


def _bury(steps: Steps, sightings: Sightings, own: Standing, now: float) -> None:
    named = {record.tenure for record in sightings.listed.shards.values()}
    living = [
        member.tenure for member in sightings.listed.members.values() if sightings.is_living(member)
    ]
    for member in sightings.listed.members.values():
        if member.tenure == own.tenure:
            continue
        left_s = max(member.lasts_s, own.lease_s) - sightings.member_age(member.tenure, now)
        if left_s > 0:
            steps.in_at_most(left_s)
        elif not member.is_ended:
            steps.bury.append(member)
        elif member.tenure not in named and own.tenure == min(living, default=""):
            steps.sweep.append(member)
