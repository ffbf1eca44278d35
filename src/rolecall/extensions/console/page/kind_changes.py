"""Which kinds got slower since a moment: the runs of the day before it, and since.

There is one median for each interval, so the median of several is that of these, each counted as often
as it had runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rolecall.extensions.console.page.trends import Interval, SeenTrends
from rolecall.gvk import Gvk

FEWEST_RUNS = 5  # fewer say nothing
NOTICEABLE = 1.2  # durations are kept to a few percent, so less may be no change at all
_DAY = timedelta(days=1)
_HOURS_AGO = re.compile(r"(\d{1,2})h", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunsOf:
    """Some intervals, taken together."""

    runs: int
    failed: int
    median_s: float | None


@dataclass(frozen=True, slots=True)
class KindChange:
    gvk: Gvk
    before: RunsOf
    after: RunsOf
    intervals: Sequence[Interval]

    @property
    def is_comparable(self) -> bool:
        enough = min(self.before.runs, self.after.runs) >= FEWEST_RUNS
        return enough and bool(self.before.median_s) and bool(self.after.median_s)

    @property
    def ratio(self) -> float:
        """How many times as long runs take since; 1 where that cannot be said."""
        before, after = self.before.median_s, self.after.median_s
        return after / before if self.is_comparable and before and after else 1.0

    @property
    def is_slower(self) -> bool:
        return self.ratio >= NOTICEABLE

    @property
    def is_faster(self) -> bool:
        return self.ratio <= 1 / NOTICEABLE


def moment_of(text: str, now: datetime) -> datetime:
    """Of an address: `6h` ago, the last `12:00` in UTC, or a moment of RFC 3339; within the last day.

    An hour ago where it is none of these.
    """
    if match := _HOURS_AGO.fullmatch(text):
        found = now - timedelta(hours=int(match[1]))
    elif match := _TIME.fullmatch(text):
        found = now.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
        found -= timedelta(days=found > now)
    else:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return now - timedelta(hours=1)
        found = found.replace(tzinfo=found.tzinfo or UTC)
    return min(max(found, now - _DAY), now)


def starts_of(trends: SeenTrends, intervals: Sequence[Interval]) -> list[datetime]:
    """When each of them began."""
    length = timedelta(seconds=trends.span.interval_s)
    return [trends.ended - length * (len(intervals) - number) for number in range(len(intervals))]


def kind_changes(trends: SeenTrends, moment: datetime) -> list[KindChange]:
    """The slowest-grown first; those of which too little is known last. An interval that lies on both
    sides of the moment is one of those with its larger part.
    """
    half = timedelta(seconds=trends.span.interval_s / 2)
    found = []
    for gvk, intervals in trends.by_kind.items():
        starts = starts_of(trends, intervals)
        split = sum(start + half <= moment for start in starts)
        found.append(
            KindChange(gvk, together(intervals[:split]), together(intervals[split:]), intervals)
        )
    return sorted(found, key=lambda each: (not each.is_comparable, -each.ratio, each.gvk.kind))


def together(intervals: Sequence[Interval]) -> RunsOf:
    runs, failed = sum(each.runs for each in intervals), sum(each.failed for each in intervals)
    return RunsOf(runs, failed, _median(intervals))


def newest_median(intervals: Sequence[Interval], fewest: int = 10) -> float | None:
    """Of the newest runs: as many intervals as it takes to have some."""
    runs, first = 0, len(intervals)
    while first > 0 and runs < fewest:
        first -= 1
        runs += intervals[first].runs
    return _median(intervals[first:])


def _median(intervals: Sequence[Interval]) -> float | None:
    known = sorted((each.median_s, each.runs) for each in intervals if each.median_s is not None)
    left = sum(runs for _, runs in known) / 2
    for median_s, runs in known:
        left -= runs
        if left <= 0:
            return median_s
    return None
