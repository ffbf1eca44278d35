"""What runs did over an hour or a day, as charts: values in, numbers on a drawing out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rolecall.extensions.console.page.charts import (
    HEIGHT,
    WIDTH,
    Chart,
    ChartLine,
    ChartMark,
    bars,
    cells,
    line,
    round_top,
    seconds_text,
)
from rolecall.extensions.console.page.kind_changes import starts_of, together
from rolecall.extensions.console.page.trends import Interval, SeenTrends, TrendSpan

_WORDS = {
    TrendSpan.HOUR: ("per minute", "minutes"),
    TrendSpan.DAY: ("per 15 min", "quarter-hours"),
}
_LEAST_SEEN = 0.25
COLUMNS = ("Began", "Runs", "Failed", "Median", "95th percentile", "Longest wait")


@dataclass(frozen=True, slots=True)
class HistoryStrip:
    """One cell for each interval; `bad`: those with a title. Numbers say the same in words."""

    paths: Sequence[ChartLine]
    bad: Sequence[ChartMark]
    failing: int  # intervals
    total: int  # of which something is known
    unit: str
    last: datetime | None  # when the last one began in which something failed
    is_failing_now: bool  # that is the interval that is not over
    has_runs: bool


def history_strip(trends: SeenTrends, intervals: Sequence[Interval], crs: int) -> HistoryStrip:
    """`crs`: how many there are now; the more of them fail, the higher a cell is red."""
    starts, length = starts_of(trends, intervals), timedelta(seconds=trends.span.interval_s)
    states = [
        _state(each, is_known=start + length > trends.since)
        for each, start in zip(intervals, starts, strict=True)
    ]
    bad = [number for number, state in enumerate(states) if state == "bad"]
    step = WIDTH / max(1, len(states))
    marks = []
    for number in bad:
        title = _title(trends, intervals[number], starts[number])
        height = HEIGHT * max(_LEAST_SEEN, _failing_share(intervals[number], crs))
        marks.append(ChartMark(step * number, step * 0.85, "bad", title, HEIGHT - height, height))
    return HistoryStrip(
        [cells("none", states), cells("good", ["good" if each.runs else "" for each in intervals])],
        marks,
        len(bad),
        sum(1 for state in states if state),
        _WORDS[trends.span][1],
        starts[bad[-1]] if bad else None,
        bool(bad) and bad[-1] == len(states) - 1,
        any(each.runs for each in intervals),
    )


def _failing_share(interval: Interval, crs: int) -> float:
    """Of the CRs, or of the runs that ended."""
    of_crs = interval.failing / crs if crs else 0.0
    of_runs = interval.failed / interval.runs if interval.runs else 0.0
    return min(1.0, max(of_crs, of_runs))


def _state(interval: Interval, *, is_known: bool) -> str:
    if interval.failed or interval.failing:
        return "bad"
    if interval.runs:
        return "good"
    return "none" if is_known else ""


def _title(trends: SeenTrends, interval: Interval, start: datetime) -> str:
    minutes = round((trends.ended - start).total_seconds() / 60)
    failing = f", {interval.failing:,} failing" if interval.failing else ""
    when = f"{minutes} min ago" if minutes < 120 else f"{minutes / 60:.1f} h ago"
    return f"{when}: {interval.failed:,} of {counted(interval.runs, 'run')} failed{failing}"


def counted(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def is_short(trends: SeenTrends) -> bool:
    """Whether less is known than the span shows; its first interval may be known in part."""
    length = timedelta(seconds=trends.span.interval_s)
    return trends.since >= trends.ended - length * (trends.span.intervals - 1)


def trend_charts(trends: SeenTrends) -> list[Chart]:
    if not any(each.runs or each.waited_s or each.failing for each in trends.all):
        return []
    return [_runs(trends), _durations(trends), _waits(trends)]


def trend_numbers(trends: SeenTrends) -> list[Sequence[str | datetime]]:
    """The newest first, without intervals in which nothing was."""
    rows: list[Sequence[str | datetime]] = [
        (
            start,
            f"{each.runs:,}",
            f"{each.failed:,}",
            seconds_text(each.median_s),
            seconds_text(each.p95_s),
            seconds_text(each.waited_s),
        )
        for each, start in zip(trends.all, starts_of(trends, trends.all), strict=True)
        if each.runs or each.waited_s
    ]
    return rows[::-1]


def axis_of(trends: SeenTrends, parts: int = 3) -> list[str | datetime]:
    """From the first interval to the one that is not over."""
    length = timedelta(seconds=trends.span.interval_s * trends.span.intervals)
    return [*(trends.ended - length * ((parts - each) / parts) for each in range(parts)), "now"]


def _runs(trends: SeenTrends) -> Chart:
    all_of = together(trends.all)
    runs, failed = [each.runs for each in trends.all], [each.failed for each in trends.all]
    top, unit = round_top(max(runs)), _WORDS[trends.span][0]
    bad = f"{all_of.failed:,} of them failed" if all_of.failed else "none failed"
    summary = f"{counted(all_of.runs, 'run')}, {bad}; at most {max(runs):,} {unit}."
    titles = [
        _title(trends, each, start)
        for each, start in zip(trends.all, starts_of(trends, trends.all), strict=True)
    ]
    marks = [*bars(runs, top, "good", titles), *bars(failed, top, "bad", titles)]
    return Chart("Runs", summary, (), (), f"{top:,.0f} {unit}", axis_of(trends), marks=marks)


def _durations(trends: SeenTrends) -> Chart:
    medians, highs = [each.median_s for each in trends.all], [each.p95_s for each in trends.all]
    known = [each for each in (*medians, *highs) if each is not None]
    if not known:
        summary, top = "No run ended.", 1.0
    else:
        top = round_top(max(known))
        highest = max((each for each in highs if each is not None), default=None)
        summary = (
            f"The median run took {seconds_text(together(trends.all).median_s)};"
            f" the 95th percentile reached {seconds_text(highest)}."
        )
    lines = [line("95th percentile", "waits", highs, top), line("median", "busy", medians, top)]
    return Chart(
        "Duration of runs", summary, (), (), seconds_text(top), axis_of(trends), lines=lines
    )


def _waits(trends: SeenTrends) -> Chart:
    waits = [each.waited_s or 0.0 for each in trends.all]
    longest = max(waits)
    top = round_top(longest)
    now = next((each.waited_s for each in reversed(trends.all) if each.waited_s is not None), None)
    summary = (
        f"The longest wait was {seconds_text(longest)}; the latest {seconds_text(now)}."
        if longest
        else "No wait for a worker was recorded."
    )
    marks = bars(waits, top, "waits", [seconds_text(each) for each in waits])
    return Chart(
        "Wait for a worker", summary, (), (), seconds_text(top), axis_of(trends), marks=marks
    )
