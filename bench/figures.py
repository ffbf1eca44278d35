"""Figures of one bench: collected, printed as a table, written as JSON and as a picture.

Medians are what is quoted; minimums tell the floor of a busy machine. Two things are only compared
where they were measured alternately in the same run.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.sax.saxutils import escape


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured several times."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """What is quoted."""
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        """The floor."""
        return min(self.values)


def table(figures: Sequence[Figure]) -> str:
    """Aligned lines: name, median, minimum, how often."""
    width = max(len(figure.name) for figure in figures)
    lines = [f"{'':{width}}  {'median':>9}  {'minimum':>9}  runs"]
    for figure in figures:
        lines.append(
            f"{figure.name:{width}}  {figure.median:>9.3f}  {figure.least:>9.3f}"
            f"  {len(figure.values):>4}  {figure.unit}"
        )
    return "\n".join(lines)


def write_json(figures: Sequence[Figure], file: Path) -> None:
    """All values, for whoever wants to reckon themselves."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(figure) | {"median": figure.median} for figure in figures]
    file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def write_picture(figures: Sequence[Figure], file: Path, title: str) -> None:
    """Bars as SVG, drawn by hand: a plotting library would be fifty megabytes for four rectangles."""
    longest = max(figure.median for figure in figures)
    height = 40 + 26 * len(figures)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}"'
        ' font-family="sans-serif" font-size="13">',
        f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for row, figure in enumerate(figures):
        y = 36 + 26 * row
        wide = max(1.0, 400 * figure.median / longest)
        colour = "#2a7f62" if "warm" in figure.name else "#9aa5b1"
        parts += [
            f'<text x="8" y="{y + 14}">{escape(figure.name)}</text>',
            f'<rect x="250" y="{y}" width="{wide:.1f}" height="18" fill="{colour}"/>',
            f'<text x="{256 + wide:.1f}" y="{y + 14}">{figure.median:.3f} {figure.unit}</text>',
        ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
