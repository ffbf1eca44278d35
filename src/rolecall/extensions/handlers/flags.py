"""Flags of handlers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rolecall.settings import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind

_MIB = 1024 * 1024
_GROUP = FlagGroup(
    "handlers",
    (
        Flag(
            "handlers-memory",
            FlagKind.BYTES,
            "512Mi",
            "the process of kopf handlers is ended and started anew when it takes more; 0: no limit",
        ),
        Flag(
            "handlers-timeout",
            FlagKind.DURATION,
            "5m",
            "a handler of changes or a timer that takes longer is ended; one that is no `async def`"
            " takes its process with it; 0: no limit",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class HandlerFlags(ExtensionFlags):
    group = _GROUP

    memory_bytes: int = 512 * _MIB  # 0: no limit
    timeout_s: float = 300.0  # 0: no limit

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        return cls(chosen["handlers-memory"] or 0, chosen["handlers-timeout"])
