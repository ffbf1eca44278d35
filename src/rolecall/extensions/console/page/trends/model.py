"""What a reader sees of the runs of an hour or a day: intervals, slow tasks, frequent causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from rolecall.gvk import Gvk


class TrendSpan(Enum):
    """How far back, in how many intervals of which length."""

    HOUR = (60, 60.0)
    DAY = (96, 900.0)

    @property
    def intervals(self) -> int:
        return self.value[0]

    @property
    def interval_s(self) -> float:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Interval:
    """The runs that ended in it."""

    runs: int = 0
    failed: int = 0  # of these runs
    failing: int = 0  # most CRs whose last run had failed, at one moment of it
    median_s: float | None = None  # of the durations; None: no run ended in it
    p95_s: float | None = None
    waited_s: float | None = None  # longest time that one waited for a worker


@dataclass(frozen=True, slots=True)
class BusyRow:
    """A task, or a cause, of one kind in the last hour."""

    kind: Gvk
    name: str  # of the task, or the cause
    place: str  # `roles/web/tasks/main.yml:12`; of a cause empty
    times: int
    total_s: float
    longest_s: float

    @property
    def mean_s(self) -> float:
        return self.total_s / self.times if self.times else 0.0


@dataclass(frozen=True, slots=True)
class SeenTrends:
    """Of the places whose CRs a reader may list; tasks and causes of those whose log he may read."""

    span: TrendSpan
    ended: datetime  # of the last interval, which is not over
    since: datetime  # what ended before is not known
    is_reading: bool  # kept runs of before the engine began are still being read
    all: Sequence[Interval] = ()  # as many as the span has, oldest first
    by_kind: Mapping[Gvk, Sequence[Interval]] = field(default_factory=dict)
    slowest: Sequence[BusyRow] = ()  # by their total time
    noisiest: Sequence[BusyRow] = ()  # by how often
    may_read_log: bool = True  # somewhere; else there are neither tasks nor causes
