"""The flag of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rolecall.settings import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind

_GROUP = FlagGroup(
    "records of runs",
    (
        Flag(
            "run-record",
            FlagKind.TRUTH,
            "true",
            "keep in the artifacts of each run what it read and wrote, by task, without values:"
            " `rolecall runs --record` and `rolecall blame` read it",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class RecordFlags(ExtensionFlags):
    group = _GROUP

    is_on: bool = True

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        return cls(is_on=chosen["run-record"])
