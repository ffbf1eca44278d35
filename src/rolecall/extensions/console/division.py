"""How replicas divide the CRs, as this one sees it, and which replica has a CR.

It reports only what this replica saw in the Leases, without assumptions: a CR whose shard has no holder
has no replica.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rolecall.clock import time_text
from rolecall.election import KeyDivision, SeenMembers
from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Who has the shard of a CR."""

    shard: int
    count: int
    replica: str  # empty: the shard has no holder
    is_self: bool

    def __str__(self) -> str:
        which = f"shard {self.shard} of {self.count}"
        return f"`{self.replica}` has {which}" if self.replica else f"{which} has no holder now"


class KeyHolders:
    """At the moment at which it is made."""

    def __init__(self, division: KeyDivision) -> None:
        self.seen = seen = division.look()
        self._part_of = division.part_of
        self._members = {part: each for each in seen.members for part in each.parts}
        self._names = _names(seen)

    @property
    def held(self) -> int:
        """How many shards this replica has."""
        return sum(len(each.parts) for each in self.seen.members if each.is_self)

    @property
    def replica(self) -> str:
        """What this replica is called."""
        return next((self._names[each.tenure] for each in self.seen.members if each.is_self), "")

    def of(self, key: Key) -> KeyHolder:
        shard = self._part_of(key)
        member = self._members.get(shard)
        if member is None:
            return KeyHolder(shard, self.seen.count, "", is_self=False)
        return KeyHolder(shard, self.seen.count, self._names[member.tenure], member.is_self)


def _names(seen: SeenMembers) -> dict[str, str]:
    """What each member is called, by tenure: as its host, unless several have that name."""
    hosts = Counter(each.host for each in seen.members)
    return {
        each.tenure: each.host if hosts[each.host] == 1 else f"{each.host}_{each.tenure}"
        for each in seen.members
    }


def shards_json(seen: SeenMembers, now: datetime) -> dict[str, Any]:
    """What `rolecall status --shards` shows."""

    def ago(seconds: float) -> str:
        return time_text(now - timedelta(seconds=seconds))

    names = _names(seen)
    return {
        "count": seen.count,
        "members": [
            {
                "replica": names[each.tenure],
                "tenure": each.tenure,
                "self": each.is_self,
                "weight": each.weight,
                "shards": sorted(each.parts),
                "runs_per_minute": round(each.runs_per_min, 1),
                "seen": ago(each.seen_age_s),
                "leaving": each.is_leaving,
                "version": each.version,
            }
            for each in sorted(seen.members, key=lambda one: (one.host, one.tenure))
        ],
        "unheld": [
            {"shard": shard, "since": ago(seconds)}
            for shard, seconds in sorted(seen.unheld.items())
        ],
        "why_not": seen.why_not,
    }
