"""Which kinds got slower since a moment: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rolecall.extensions.console.page.charts import (
    WIDTH,
    Chart,
    ChartMark,
    line,
    round_top,
    seconds_text,
)
from rolecall.extensions.console.page.kind_changes import (
    FEWEST_RUNS,
    KindChange,
    kind_changes,
    newest_median,
    starts_of,
)
from rolecall.extensions.console.page.trends import SeenTrends
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page
from rolecall.extensions.console.page.views.trend_charts import axis_of, counted, is_short

_CHOICES = (("1 hour", "1h"), ("6 hours", "6h"), ("12:00 UTC", "12:00"), ("24 hours", "24h"))
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class KindsPage:
    """A day of runs that one reader sees, and the moment that divides it."""

    trends: SeenTrends
    moment: datetime
    choice: str  # as the address has it


def kinds(shown: KindsPage, layout: PageLayout) -> Html:
    changes = kind_changes(shown.trends, shown.moment)
    slower = [each for each in changes if each.is_slower]
    faster = [each for each in reversed(changes) if each.is_faster]
    values: dict[str, Any] = {
        "trends": shown.trends,
        "moment": shown.moment,
        "choices": [(name, word, word == shown.choice) for name, word in _CHOICES],
        "is_all_since": not any(each.before.runs for each in changes),
        "changes": [(each, _chart(shown, each)) for each in changes],
        "slower": slower[:_MOST_NAMED],
        "slower_more": len(slower) - _MOST_NAMED,
        "faster": faster[:_MOST_NAMED],
        "faster_more": len(faster) - _MOST_NAMED,
        "unclear": [each.gvk.kind for each in changes if not each.is_comparable],
        "is_comparable": any(each.is_comparable for each in changes),
        "has_steady": any(
            each.is_comparable and not (each.is_slower or each.is_faster) for each in changes
        ),
        "is_short": is_short(shown.trends),
        "fewest": FEWEST_RUNS,
        "counted": counted,
        "times": _times,
    }
    return page("kinds", "Kinds over time", layout, **values)


def _times(change: KindChange) -> str:
    """`2.7 times slower`."""
    ratio = change.ratio if change.ratio >= 1 else 1 / change.ratio
    digits = 2 if ratio < 2 else 1 if ratio < 10 else 0
    return f"{ratio:,.{digits}f} times {'slower' if change.ratio >= 1 else 'faster'}"


def _chart(shown: KindsPage, change: KindChange) -> Chart:
    """The median over the day; what is since the moment has another paper."""
    medians = [each.median_s for each in change.intervals]
    known = [each for each in medians if each is not None]
    top = round_top(max(known, default=0.0))
    if known:
        newest = seconds_text(newest_median(change.intervals))
        low, high = seconds_text(min(known)), seconds_text(max(known))
        summary = f"Between {low} and {high}, most recently {newest}."
    else:
        summary = "No run ended."
    day = timedelta(seconds=shown.trends.span.interval_s * shown.trends.span.intervals)
    left = WIDTH * min(1.0, max(0.0, 1 - (shown.trends.ended - shown.moment) / day))
    return Chart(
        f"Median duration of {change.gvk.kind}",
        summary,
        ("Began", "Runs", "Failed", "Median"),
        _numbers(shown.trends, change),
        seconds_text(top),
        axis_of(shown.trends, 4),
        [ChartMark(left, WIDTH - left, "since")],
        [line("median", "busy", medians, top)],
    )


def _numbers(trends: SeenTrends, change: KindChange) -> list[Sequence[str | datetime]]:
    rows: list[Sequence[str | datetime]] = [
        (start, f"{each.runs:,}", f"{each.failed:,}", seconds_text(each.median_s))
        for each, start in zip(change.intervals, starts_of(trends, change.intervals), strict=True)
        if each.runs
    ]
    return rows[::-1]
