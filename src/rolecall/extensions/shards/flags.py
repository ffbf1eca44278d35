"""The flag of shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rolecall.errors import InputError
from rolecall.settings import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind

_MOST = 1024  # each is a Lease
_GROUP = FlagGroup(
    "shards",
    (
        Flag(
            "shards",
            FlagKind.WHOLE,
            "0",
            "instead of --leader-elect: all replicas work, each on its part of the CRs, which are"
            " divided into so many shards, 1 to 1024, such as 64; the same number in all replicas; 0:"
            " off",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ShardFlags(ExtensionFlags):
    group = _GROUP

    count: int = 0  # 0: off, so one replica has all keys

    @property
    def division(self) -> str:
        return f"shards/{self.count}" if self.count else ""

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        """Shards or one leader: with both, it would be undefined which replica may work."""
        count = chosen["shards"]
        if not 0 <= count <= _MOST:
            raise InputError(
                f"{chosen.origins['shards']}: `{count}` is out of range: must be 1 to {_MOST}, or 0 to"
                " disable sharding",
                hint="set the same number in all replicas",
            )
        if chosen["leader-elect"] and count:
            both = f"`{chosen.origins['leader-elect']}` and `{chosen.origins['shards']}`"
            raise InputError(
                f"{both} were set: with the first only one replica works, with the second all do, each"
                " on its part of the CRs",
                hint="choose one; shards hold a Lease for each part, so they need no leader",
            )
        return cls(count)
