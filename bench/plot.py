"""Draws figures as SVG by hand: a plotting library would be fifty megabytes for a dozen rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from bench.figures import Figure

_WIDTH, _LEFT, _ROW, _LINE_HEIGHT = 760, 250, 26, 120
_WARM, _STOCK, _INK = "#2a7f62", "#9aa5b1", "#1f2933"


def plot(figures: Sequence[Figure]) -> str:
    """Time from CR to `Successful` and throughput as bars, memory over many runs as a line."""
    parts: list[str] = []
    y = 10
    for title, chosen in (
        ("From creating a CR to Successful: stock and warm", _ending(figures, "wall", ": ")),
        ("Four-task reconciles per second", [one for one in figures if one.unit == "runs/s"]),
    ):
        if chosen:
            y = _bars(parts, y, title, chosen)
    for course in (one for one in figures if one.is_course and one.unit.startswith("MB")):
        y = _line(parts, y, course)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}"'
        f' font-family="sans-serif" font-size="13" fill="{_INK}">'
        f'<rect width="{_WIDTH}" height="{y}" fill="#ffffff"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _ending(figures: Sequence[Figure], word: str, mark: str) -> list[Figure]:
    return [
        one
        for one in figures
        if one.name.endswith(word) and mark in one.name and not one.name.startswith("one more")
    ]


def _bars(parts: list[str], y: int, title: str, figures: Sequence[Figure]) -> int:
    longest = max(figure.median for figure in figures)
    parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{escape(title)}</text>')
    y += _ROW
    for figure in figures:
        wide = max(1.0, 400 * figure.median / longest)
        colour = _WARM if "warm" in figure.name else _STOCK
        parts += [
            f'<text x="8" y="{y + 14}">{escape(figure.name)}</text>',
            f'<rect x="{_LEFT}" y="{y}" width="{wide:.1f}" height="18" fill="{colour}"/>',
            f'<text x="{_LEFT + 6 + wide:.1f}" y="{y + 14}">{figure.median:.3f} {figure.unit}</text>',
        ]
        y += _ROW
    return y + 10


def _line(parts: list[str], y: int, course: Figure) -> int:
    most = max(course.values) * 1.25 or 1.0
    title = f"{course.name} ({course.unit}, from 0)"
    parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{escape(title)}</text>')
    y += _ROW
    step = 480 / max(1, len(course.values) - 1)
    points = " ".join(
        f"{60 + number * step:.1f},{y + _LINE_HEIGHT * (1 - value / most):.1f}"
        for number, value in enumerate(course.values)
    )
    foot = y + _LINE_HEIGHT
    parts += [
        f'<path d="M60 {y}V{foot}H540" fill="none" stroke="{_STOCK}"/>',
        f'<polyline points="{points}" fill="none" stroke="{_WARM}" stroke-width="2"/>',
        f'<text x="8" y="{foot}">0</text>',
        f'<text x="550" y="{y + _LINE_HEIGHT * (1 - course.values[-1] / most):.1f}">'
        f"{course.values[-1]:.1f} {course.unit}</text>",
    ]
    return foot + 20
