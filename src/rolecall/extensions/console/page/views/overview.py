"""What the operator does, and did: values in, text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.extensions.console.page.charts import WIDTH, ChartMark
from rolecall.extensions.console.page.failures import FailureEntries
from rolecall.extensions.console.page.kind_changes import newest_median
from rolecall.extensions.console.page.rows import Counts
from rolecall.extensions.console.page.trends import BusyRow, SeenTrends, TrendSpan
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, render
from rolecall.extensions.console.page.views.trend_charts import (
    COLUMNS,
    HistoryStrip,
    counted,
    history_strip,
    is_short,
    trend_charts,
    trend_numbers,
)
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

MOST_RUNNING = 100
_SPANS = ((TrendSpan.HOUR, "Last hour", "/"), (TrendSpan.DAY, "Last day", "/?span=day"))


@dataclass(frozen=True, slots=True)
class Replica:
    """The engine that shows the page."""

    version: str
    host: str
    began: str
    works: bool
    leader: str  # where one works alone
    part: str  # which part of the objects it has; empty: all of them, if it works
    server: str
    runs_a_minute: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run in flight has come; where its log may be read."""

    tasks: int  # that it began
    expected: int | None = None  # so many had the last good run
    waits_since: str = ""  # for something outside; it needs no worker then

    @property
    def share(self) -> int | None:
        """In percent; None: not known, or it has more tasks than the last one had."""
        if not self.expected or self.tasks > self.expected:
            return None
        return round(100 * max(0, self.tasks - 1) / self.expected)

    @property
    def words(self) -> str:
        if not self.tasks:
            return ""
        if not self.expected:
            return f"task {self.tasks:,}"
        if self.tasks > self.expected:
            return f"task {self.tasks:,}; the last good run had {self.expected:,}"
        return f"task {self.tasks:,} of about {self.expected:,}"


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """What one reader sees."""

    counts: Counts
    replica: Replica
    trends: SeenTrends
    failures: FailureEntries = field(default_factory=FailureEntries)
    progress: Mapping[Key, RunProgress] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _KindRow:
    gvk: Gvk
    by_state: Counter[str]
    strip: HistoryStrip
    median_s: float | None


def overview(shown: OverviewPage, layout: PageLayout) -> Html:
    return page("overview", "Overview", layout, live="/events", **_overview_values(shown))


def overview_parts(shown: OverviewPage) -> Html:
    """What changes while one looks."""
    return render("overview_parts", **_overview_values(shown))


def _overview_values(shown: OverviewPage) -> dict[str, Any]:
    counts, trends = shown.counts, shown.trends
    here = dict((span, address) for span, _, address in _SPANS)[trends.span]
    return {
        "kinds": _kind_rows(shown),
        "running": counts.running[:MOST_RUNNING],
        "running_more": len(counts.running) - MOST_RUNNING,
        "waiting": counts.by_urgency.most_common(),
        "replica": shown.replica,
        "failures": shown.failures,
        "progress": shown.progress,
        "no_progress": RunProgress(0),
        "trends": trends,
        "span_words": "hour" if trends.span is TrendSpan.HOUR else "day",
        "span_links": [(name, link, span is trends.span) for span, name, link in _SPANS],
        "renewed_at": here + ("&" if "?" in here else "?") + "fragment=1",
        "charts": trend_charts(trends),
        "columns": COLUMNS,
        "numbers": trend_numbers(trends),
        "is_short": is_short(trends),
        "busy": [
            ("Slowest tasks", "slowest", _shares(trends.slowest, by_time=True)),
            ("Most frequent causes", "noisiest", _shares(trends.noisiest, by_time=False)),
        ],
        "counted": counted,
    }


def _kind_rows(shown: OverviewPage) -> list[_KindRow]:
    rows = []
    for gvk, by_state in sorted(shown.counts.by_kind.items(), key=lambda pair: pair[0].kind):
        intervals = shown.trends.by_kind.get(gvk, ())
        strip = history_strip(shown.trends, intervals, by_state.total())
        rows.append(_KindRow(gvk, by_state, strip, newest_median(intervals)))
    return rows


def _shares(rows: Sequence[BusyRow], *, by_time: bool) -> list[tuple[BusyRow, list[ChartMark]]]:
    """Each with a bar: its part of what the largest has."""
    sizes = [each.total_s if by_time else float(each.times) for each in rows]
    most = max(sizes, default=0.0) or 1.0
    return [
        (each, [ChartMark(0, max(2.0, WIDTH * size / most), "busy" if by_time else "rests")])
        for each, size in zip(rows, sizes, strict=True)
    ]
