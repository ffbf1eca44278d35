"""Charts as numbers on a drawing of 1000 by 100; `templates/charts.html` draws them as SVG.

A chart is never the only way to what it shows: it has a sentence for those who do not see it, and its
numbers as a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

WIDTH, HEIGHT = 1000.0, 100.0


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A rectangle. `kind`: good, bad, busy, waits, rests, other, none, read or write; its colour."""

    x: float
    width: float
    kind: str
    title: str = ""  # shown for a pointer, and read where the mark is a link
    y: float = 0.0
    height: float = HEIGHT
    link: str = ""


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Values over time; where there is none, the line is interrupted."""

    name: str
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    summary: str  # in words
    columns: Sequence[
        str
    ]  # of the numbers as a table; empty: they are in a table of several charts
    rows: Sequence[Sequence[str | datetime]]
    top: str  # the highest value, with its unit
    axis: Sequence[str | datetime]  # from left to right, at equal distances
    marks: Sequence[ChartMark] = field(default_factory=tuple)
    lines: Sequence[ChartLine] = field(default_factory=tuple)


def line(name: str, kind: str, values: Sequence[float | None], top: float) -> ChartLine:
    """Through the middle of as many equal intervals as there are values."""
    step, pieces, is_down = WIDTH / max(1, len(values)), list[str](), False
    for number, value in enumerate(values):
        if value is None:
            is_down = False
            continue
        x, y = step * (number + 0.5), HEIGHT - _share(value, top) * HEIGHT
        # One value alone is a short stroke.
        pieces.append(f"L{x:.1f} {y:.1f}" if is_down else f"M{x - 2:.1f} {y:.1f}H{x:.1f}")
        is_down = True
    return ChartLine(name, kind, "".join(pieces))


def bars(
    values: Sequence[float], top: float, kind: str, titles: Sequence[str] = ()
) -> list[ChartMark]:
    """One for each of as many equal intervals; a value of 0 has none."""
    step = WIDTH / max(1, len(values))
    return [
        ChartMark(
            step * number,
            step * 0.9,
            kind,
            titles[number] if titles else "",
            HEIGHT * (1 - _share(value, top)),
            HEIGHT * _share(value, top),
        )
        for number, value in enumerate(values)
        if value > 0
    ]


def cells(kind: str, among: Sequence[str]) -> ChartLine:
    """Of as many equal cells those of one kind, as one path: a title for each would cost too much."""
    step, width = WIDTH / max(1, len(among)), WIDTH / max(1, len(among)) * 0.85
    found = [
        f"M{step * number:.1f} 0h{width:.1f}v100h-{width:.1f}z"
        for number, each in enumerate(among)
        if each == kind
    ]
    return ChartLine("", kind, "".join(found))


def round_top(highest: float) -> float:
    """The end of an axis that has room for it: 1, 2 or 5 times a power of ten."""
    if highest <= 0:
        return 1.0
    power = 1.0
    while power < highest:
        power *= 10
    while power / 10 >= highest:
        power /= 10
    return next(power * part for part in (0.2, 0.5, 1.0) if power * part >= highest)


def seconds_text(seconds: float | None) -> str:
    """How long something took, as precisely as one compares it; `-` where it is not known."""
    if seconds is None:
        return "-"
    if seconds < 0.995:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{seconds / 3600:,.1f} h"


def _share(value: float, top: float) -> float:
    return min(max(value / top, 0.0), 1.0) if top > 0 else 0.0
