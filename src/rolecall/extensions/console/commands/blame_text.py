"""A blamed object as text: its YAML, and before each field who wrote it, in which run, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rolecall.cli.spans import since
from rolecall.cli.terminal import Colour, Screen, cells, cut
from rolecall.extensions.console.blame import Blamed, who, yaml_lines
from rolecall.plain_text import plain

_RUN_LETTERS = 8
_LEAST_WHO = 24
_BAR = " │ "


def blame_lines(blamed: Sequence[Blamed], now: datetime, screen: Screen) -> list[str]:
    """As wide as the screen; what does not fit of a value is cut."""
    margins = [(_who(each), _run(each), _age(each, now)) for each in blamed]
    widths = [max((cells(row[place]) for row in margins), default=0) for place in range(3)]
    if screen.width is not None:
        widths[0] = min(widths[0], max(_LEAST_WHO, screen.width * 2 // 5))
    lines: list[str] = []
    before: tuple[str | int, ...] = ()
    for each, margin in zip(blamed, margins, strict=True):
        *parents, own = yaml_lines(before, each.field)
        lines += [_line(("", "", ""), widths, text, screen, None) for text in parents]
        lines.append(_line(margin, widths, own, screen, _colour(each)))
        before = each.field.keys
    return lines


def _who(each: Blamed) -> str:
    return plain(who(each))


def _run(each: Blamed) -> str:
    return plain(each.write.run[:_RUN_LETTERS]) if each.write else ""


def _age(each: Blamed, now: datetime) -> str:
    at = each.write.at if each.write else each.manager.at if each.manager else None
    return since(at, now)


def _line(
    margin: Sequence[str],
    widths: Sequence[int],
    text: str,
    screen: Screen,
    colour: Colour | None,
) -> str:
    cut_margin = [cut(cell, width) for cell, width in zip(margin, widths, strict=True)]
    padded = [
        cell + " " * (width - cells(cell)) for cell, width in zip(cut_margin, widths, strict=True)
    ]
    words = "  ".join(padded)
    indent = len(text) - len(text.lstrip(" "))
    shown = " " * indent + plain(text)
    if screen.width is not None:
        shown = cut(shown, max(10, screen.width - cells(words) - len(_BAR)))
    return f"{screen.painted(words, colour)}{_BAR}{shown}".rstrip()


def _colour(each: Blamed) -> Colour | None:
    if each.write is not None:
        return Colour.GREEN
    return Colour.CYAN if each.manager is not None else None
