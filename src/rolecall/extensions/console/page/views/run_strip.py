"""The kept runs of an object as bars over time, oldest left."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.charts import HEIGHT, WIDTH, ChartMark
from rolecall.history import KeptRun
from rolecall.workqueue import Key

_COLOURS = {"succeeded": "good", "failed": "bad", "lost": "bad", "running": "busy"}
_FEWEST = 16  # places: else two runs would be two walls
_SHORTEST_S, _LOWEST = 0.1, 8.0
_LONGEST_S = 1e9  # what is longer was not measured
_LONGEST_TEXT = 100


@dataclass(frozen=True, slots=True)
class RunStrip:
    marks: Sequence[ChartMark] = ()
    summary: str = ""
    top: str = ""
    ends: Sequence[datetime | None] = ()  # when the oldest and the newest began


def run_strip(
    key: Key, runs: Sequence[KeptRun], now: datetime | None, *, may_read_log: bool
) -> RunStrip:
    """`runs`: newest first."""
    if not runs:
        return RunStrip()
    lengths = [_seconds(run, now) for run in runs]
    top = max(lengths)
    width = 0.82 * WIDTH / max(_FEWEST, len(runs))
    # The oldest at one end and the newest at the other, above their times.
    step = (WIDTH - width) / max(1, len(runs) - 1)
    marks = []
    for number, (run, seconds) in enumerate(zip(reversed(runs), reversed(lengths), strict=True)):
        height = _height(seconds, top)
        title = _title(run, seconds, now, may_read_log=may_read_log)
        kind = _COLOURS.get(run.outcome, "rests")
        link = places.of_run(key, run.run)
        marks.append(ChartMark(step * number, width, kind, title, HEIGHT - height, height, link))
    counts = Counter(run.outcome[:_LONGEST_TEXT] for run in runs).most_common()
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts)
    all_runs = f"{len(runs)} runs" if len(runs) > 1 else "1 run"
    ends = (runs[-1].began, runs[0].began) if len(runs) > 1 else (runs[0].began,)
    return RunStrip(marks, f"{all_runs}, oldest left: {words}.", _length(top), ends)


def _title(run: KeptRun, seconds: float, now: datetime | None, *, may_read_log: bool) -> str:
    """`edit, 2.4 s, succeeded, 12:04 UTC`."""
    at = ""
    if run.began is not None:
        is_today = now is not None and run.began.date() == now.date()
        at = run.began.strftime("%H:%M UTC" if is_today else "%Y-%m-%d %H:%M UTC")
    cause = run.cause[:_LONGEST_TEXT] if may_read_log else ""
    took = _length(seconds) if run.seconds is not None or seconds else ""
    return ", ".join(filter(None, (cause, took, run.outcome[:_LONGEST_TEXT], at)))


def _seconds(run: KeptRun, now: datetime | None) -> float:
    """So far, where it is under way."""
    seconds = run.seconds or 0.0
    if run.outcome == "running" and run.began is not None and now is not None:
        seconds = (now - run.began).total_seconds()
    return seconds if 0 < seconds < _LONGEST_S else 0.0


def _height(seconds: float, top: float) -> float:
    """Logarithmic: runs of a second and of an hour are both to be seen."""
    most = math.log1p(top / _SHORTEST_S)
    share = math.log1p(seconds / _SHORTEST_S) / most if most else 0.0
    return _LOWEST + (HEIGHT - _LOWEST) * share


def _length(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:,.1f} h"
