"""Figures of one bench: collected, and printed as a table.

Medians are what is quoted; minimums tell the floor of a busy machine. Two things are only compared
where they were measured alternately in the same run.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured several times; a course is one thing watched while time went by."""

    name: str
    unit: str
    values: tuple[float, ...]
    is_course: bool = False

    @property
    def median(self) -> float:
        """What is quoted."""
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        """The floor."""
        return min(self.values)

    @property
    def cells(self) -> tuple[str, str, str]:
        """Three columns: median, minimum, how often; of a course: first, last, most."""
        first, last = self.values[0], self.values[-1]
        if self.is_course:
            return f"first {first:.1f}", f"last {last:.1f}", f"most {max(self.values):.1f}"
        return f"{self.median:.3f}", f"{self.least:.3f}", str(len(self.values))


def table(figures: Sequence[Figure]) -> str:
    """Aligned lines: name, median, minimum, how often."""
    width = max(len(figure.name) for figure in figures)
    lines = [f"{'':{width}}  {'median':>12}  {'minimum':>12}  {'runs':>10}"]
    for figure in figures:
        median, least, count = figure.cells
        lines.append(
            f"{figure.name:{width}}  {median:>12}  {least:>12}  {count:>10}  {figure.unit}"
        )
    return "\n".join(lines)


def markdown(figures: Sequence[Figure]) -> str:
    """The same for a page."""
    lines = ["| | median | minimum | runs | |", "|---|---|---|---|---|"]
    lines += [
        f"| {figure.name} | {' | '.join(figure.cells)} | {figure.unit} |" for figure in figures
    ]
    return "\n".join(lines) + "\n"
