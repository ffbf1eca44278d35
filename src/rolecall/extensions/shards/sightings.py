"""The Lease versions that this replica observed, and since when: the basis of every decision that a
lease has expired.

Promise: an age counts from the moment when *this* process first saw *this* version, on its own clock,
so no wall clock of any replica matters. Two reads return the same version only if no client wrote in
between; so an age is also correct after a pause of this process.

Correct, but not fair: after an outage of the API server no member has renewed its Lease, and the first
replica to reconnect would end the tenures of all others. So the ages of members restart after a time in
which we could not list.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from rolecall.extensions.shards.lease_shapes import Listed, MemberRecord, ShardRecord


class Hold(Enum):
    """The state of a shard according to its Lease and the Lease of its holder."""

    MISSING = "there is no Lease"
    HELD = "its holder lives"
    FREE = "released, or its holder's tenure is over"
    UNCLEAR = "another replica may still be writing"


@dataclass(frozen=True, slots=True)
class _Sight:
    what: object
    since: float


class Sightings:
    """The last list, and since when each of its parts is as it is."""

    def __init__(self, count: int, blind_s: float, watched: str = "") -> None:
        self.listed = Listed()
        self._blind_s = blind_s
        self._seen_at = 0.0
        self._count = count
        self._watched = watched
        self._members: dict[str, _Sight] = {}
        self._shards: dict[int, _Sight] = {}
        self._unheld: dict[int, float] = {}

    def see(self, listed: Listed, now: float, *, skipped: Collection[int] = ()) -> None:
        """A list arrived. Of `skipped` shards it may be older than what we wrote ourselves."""
        kept = {shard: old for shard in skipped if (old := self.listed.shards.get(shard))}
        shards = {shard: new for shard, new in listed.shards.items() if shard not in skipped}
        self.listed = Listed(listed.members, {**shards, **kept})
        known = self._members if now < self._seen_at + self._blind_s else {}
        self._seen_at = now
        self._members = {
            tenure: _since(known.get(tenure), record.version, now)
            for tenure, record in listed.members.items()
        }
        for shard in range(self._count):
            self._see_shard(shard, now)

    def see_member(self, tenure: str, version: str, now: float) -> None:
        """Note the version of a watch event at this moment; the next list brings the rest."""
        if (seen := self._members.get(tenure)) is not None:
            self._members[tenure] = _since(seen, version, now)

    def hold_of(self, shard: int) -> Hold:
        record = self.listed.shards.get(shard)
        if record is None:
            return Hold.MISSING
        if record.is_released:
            return Hold.FREE
        holder = self.listed.members.get(record.tenure) if record.tenure else None
        if holder is None or record.count != self._count:
            return Hold.UNCLEAR
        if holder.is_ended:
            return Hold.FREE
        return Hold.HELD if self.is_living(holder) else Hold.UNCLEAR

    def is_living(self, member: MemberRecord) -> bool:
        """Its tenure is not over, and it divides the same keys as we do."""
        is_alike = (member.count, member.watched) == (self._count, self._watched)
        return member.is_sound and not member.is_ended and is_alike

    def member_age(self, tenure: str, now: float) -> float:
        """How long a member Lease has been as it is."""
        return now - self._members[tenure].since if tenure in self._members else 0.0

    def shard_age(self, shard: int, now: float) -> float:
        """How long a shard has been held, or not held, in this very way."""
        return now - self._shards[shard].since if shard in self._shards else 0.0

    def unheld(self, now: float) -> dict[int, float]:
        """Shards without a living holder, and for how long."""
        return {shard: now - since for shard, since in self._unheld.items()}

    def longest_lease(self, own_s: float) -> float:
        """The longest time for which any replica here may believe to hold a shard, by their Leases."""
        return max([own_s, *(member.lasts_s for member in self.listed.members.values())])

    def _see_shard(self, shard: int, now: float) -> None:
        record = self.listed.shards.get(shard)
        self._shards[shard] = _since(self._shards.get(shard), self._state_of(shard, record), now)
        if self.hold_of(shard) is Hold.HELD:
            self._unheld.pop(shard, None)
        else:
            self._unheld.setdefault(shard, now)

    def _state_of(self, shard: int, record: ShardRecord | None) -> object:
        """All that a judgement of this shard hangs on.

        A holder whose Lease is strange may make it right again, in any new version of it. One that
        is gone never comes back. And who reads a Lease of another count knows that it is not its own.
        """
        if record is None:
            return None
        holder = self.listed.members.get(record.tenure)
        is_strange = holder is not None and not (holder.is_ended or self.is_living(holder))
        holder_version = holder.version if holder is not None and is_strange else ""
        holder_version = holder_version if record.count == self._count else ""
        return (self.hold_of(shard), record.version, holder_version)


def _since(seen: _Sight | None, what: object, now: float) -> _Sight:
    return seen if seen is not None and seen.what == what else _Sight(what, now)
