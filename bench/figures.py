"""Figures of one bench: collected, and printed as a table.

Medians are quoted; minimums show the floor of a busy machine. Two things are only compared
where they were measured alternately in the same run.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

FEWEST = 10  # samples from which halves say something
_WARM_UP = 5  # one of so many samples


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured several times; a course is one thing watched while time went by."""

    name: str
    unit: str
    values: tuple[float, ...]
    is_course: bool = False
    is_difference: bool = False  # to another engine, measured in turns: below zero it is noise
    judges_most: bool = False  # by the largest value, not by the median
    limit: float | None = None  # what is promised: at most this; of a course, at most this growth

    @property
    def median(self) -> float:
        """What is quoted."""
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        """The floor."""
        return min(self.values)

    @property
    def judged(self) -> float:
        """What is compared with the limit."""
        if self.is_course:
            return growth(self.values)
        return max(self.values) if self.judges_most else self.median

    @property
    def verdict(self) -> str:
        """`passed`, `FAILED`, or nothing where nothing is promised."""
        if self.limit is None:
            return ""
        return "passed" if self.judged <= self.limit else "FAILED"

    @property
    def shown_limit(self) -> str:
        """The limit and the verdict, as a table has them."""
        if self.limit is None:
            return ""
        word = "growth " if self.is_course else ""
        return f"{word}at most {self.limit:g}: {self.verdict}"

    @property
    def cells(self) -> tuple[str, str, str]:
        """Three columns: median, minimum, how often; of a course: first, last, most."""
        first, last = self.values[0], self.values[-1]
        if self.is_course:
            return f"first {first:.1f}", f"last {last:.1f}", f"most {max(self.values):.1f}"
        return self._shown(self.median), self._shown(self.least), str(len(self.values))

    def _shown(self, value: float) -> str:
        return "none" if self.is_difference and value <= 0 else f"{value:.3f}"


def table(figures: Sequence[Figure]) -> str:
    """Aligned lines: name, median, minimum, how often."""
    width = max(len(figure.name) for figure in figures)
    lines = [f"{'':{width}}  {'median':>12}  {'minimum':>12}  {'runs':>10}  limit"]
    for figure in figures:
        median, least, count = figure.cells
        lines.append(
            f"{figure.name:{width}}  {median:>12}  {least:>12}  {count:>10}"
            f"  {figure.unit}  {figure.shown_limit}".rstrip()
        )
    return "\n".join(lines)


def markdown(figures: Sequence[Figure]) -> str:
    """The same for a page."""
    lines = ["| | median | minimum | runs | | limit |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {figure.name} | {' | '.join(figure.cells)} | {figure.unit} | {figure.shown_limit} |"
        for figure in figures
    ]
    return "\n".join(lines) + "\n"


def limited(figures: Sequence[Figure], limits: Mapping[str, float]) -> list[Figure]:
    """The figures, those that are named with their limits; a name without a figure is an error."""
    if unknown := limits.keys() - {figure.name for figure in figures}:
        raise ValueError(f"no figure has the name of these limits: {sorted(unknown)}")
    return [replace(figure, limit=limits.get(figure.name, figure.limit)) for figure in figures]


def failed(figures: Sequence[Figure]) -> list[Figure]:
    """Those over their limits."""
    return [figure for figure in figures if figure.verdict == "FAILED"]


def growth(values: Sequence[float]) -> float:
    """By how much the later half of a course is above the earlier one; see `growth.py`."""
    earlier, later = (statistics.median(half) for half in halves(values))
    return later - earlier


def halves(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """Both halves of a course, without its first fifth, in which caches fill."""
    if len(values) < FEWEST:
        raise ValueError(f"{len(values)} samples say nothing about growth; {FEWEST} do: more runs")
    warm = values[len(values) // _WARM_UP :]
    middle = len(warm) // 2
    return warm[:middle], warm[middle:]
