"""The shards that this member took, and for which of them it may write now.

Promise: a claim is valid only as long as lists show the exact Lease that this member wrote: the same
version, or, within the deadline, the same mark. No client can restore a version; a mark can be restored
by hand, but not within the time that other members must wait. A hand is issued once; when its claim
expires, is given up or is taken away, the hand is void for good, and a later claim gets a new one.

The hard part: a response may be lost, so that our write arrives later, or has arrived already. So a
claim begins unconfirmed when the write is sent; and a list that was requested before our last write for
a shard says nothing about that shard.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.lease_shapes import (
    ClaimMark,
    Listed,
    ShardRecord,
    mark_of,
    version_of,
)
from rolecall.json_object import Json


@dataclass(slots=True, eq=False)
class Claim:
    """One shard that we took, or tried to."""

    shard: int
    wanted: Json  # what we wrote, or try to
    based_on: str  # the version that it replaces
    proven_at: float  # no later than when the Lease was known to be ours
    version: str = ""  # of the Lease since it is ours; empty: not known to be
    lease: Json = field(default_factory=dict)  # as it was seen last
    hand: Hand | None = None
    leaving_since: float | None = None
    ended_at: float | None = None  # when its runs were ended, patience being over

    @property
    def is_confirmed(self) -> bool:
        return bool(self.version)

    @property
    def mark(self) -> ClaimMark:
        return mark_of(self.wanted)


class Claims:
    """All claims of one tenure."""

    def __init__(self, count: int, deadline_s: float) -> None:
        self._count = count
        self._deadline_s = deadline_s
        self.by_shard: dict[int, Claim] = {}
        # When our last write for a shard was answered, or given up.
        self.written_at: dict[int, float] = {}

    def confirmed(self) -> set[int]:
        return {shard for shard, claim in self.by_shard.items() if claim.is_confirmed}

    def attempt(self, record: ShardRecord, wanted: Json, sent_at: float) -> Claim:
        """We are about to write `wanted`. The same write may be tried again."""
        claim = Claim(record.shard, wanted, record.version, sent_at)
        self.by_shard[record.shard] = claim
        return claim

    def took(self, claim: Claim, lease: Json) -> None:
        """The answer came: it is ours."""
        claim.version, claim.lease = version_of(lease), lease

    def is_stale(self, shard: int, listed_at: float) -> bool:
        """Whether a list that was asked for at a moment may be older than our last write."""
        return self.written_at.get(shard, float("-inf")) >= listed_at

    def check(self, listed: Listed, listed_at: float, skipped: Collection[int]) -> set[int]:
        """Compare with a list; returns confirmed claims that are not ours any more."""
        lost = set()
        for shard, claim in list(self.by_shard.items()):
            if shard in skipped:
                continue
            record = listed.shards.get(shard)
            if record is not None and self._is_ours(claim, record, listed_at):
                claim.version, claim.lease = record.version, record.lease
                claim.proven_at = max(claim.proven_at, listed_at)
            elif claim.is_confirmed:
                lost.add(shard)
            elif not self._may_still_arrive(claim, record, listed_at):
                del self.by_shard[shard]
        return lost

    def _is_ours(self, claim: Claim, record: ShardRecord, listed_at: float) -> bool:
        if claim.is_confirmed and record.version == claim.version:
            return True
        if record.count != self._count:  # others do not see that it is ours, and would count down
            return False
        return record.mark == claim.mark and listed_at < claim.proven_at + self._deadline_s

    def _may_still_arrive(self, claim: Claim, record: ShardRecord | None, listed_at: float) -> bool:
        if record is None or record.version != claim.based_on:
            return False
        return listed_at < claim.proven_at + self._deadline_s
