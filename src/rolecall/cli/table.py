"""A table no wider than the terminal: cut where people lose least, never wrapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rolecall.cli.terminal import Colour, Screen, cells, cut
from rolecall.plain_text import plain

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `least`: how narrow it may get; 0: not narrower than its content."""

    title: str
    least: int = 0
    may_go: int = 0  # where nothing else helps, the highest is left out first; 0: never
    colour: Callable[[str], Colour | None] | None = None


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], screen: Screen) -> list[str]:
    """Lines with a head, as wide as the screen at most."""
    shown = [[plain(cell) for cell in row] for row in rows]
    every = [[column.title for column in columns], *shown]
    widths = _widths(columns, every, screen.width)
    return [
        _line(columns, row, widths, screen, is_head=not number) for number, row in enumerate(every)
    ]


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int | None
) -> list[int]:
    """How wide each column is; 0: left out."""
    natural = [max(cells(row[place]) for row in rows) for place in range(len(columns))]
    if room is None:
        return natural
    natural = [min(width, room) for width in natural]
    while True:
        widths = list(natural)
        while _total(widths) > room:
            place = _widest_that_gives(columns, widths)
            if place is None:
                break
            widths[place] -= 1
        # What a column had that goes is for those that stay.
        if _total(widths) <= room or not _leave_out(columns, natural):
            return widths


def _widest_that_gives(columns: Sequence[Column], widths: Sequence[int]) -> int | None:
    giving = [
        place
        for place, column in enumerate(columns)
        if column.least and widths[place] > max(column.least, cells(column.title))
    ]
    return max(giving, key=lambda place: widths[place], default=None)


def _leave_out(columns: Sequence[Column], widths: list[int]) -> bool:
    going = [place for place, column in enumerate(columns) if column.may_go and widths[place]]
    if not going:
        return False
    widths[max(going, key=lambda place: columns[place].may_go)] = 0
    return True


def _total(widths: Sequence[int]) -> int:
    shown = [width for width in widths if width]
    return sum(shown) + len(_GAP) * (len(shown) - 1)


def _line(
    columns: Sequence[Column],
    row: Sequence[str],
    widths: Sequence[int],
    screen: Screen,
    *,
    is_head: bool,
) -> str:
    shown = []
    places = [place for place, width in enumerate(widths) if width]
    room = screen.width
    for place in places:
        width = widths[place] if room is None else min(widths[place], max(room, 0))
        text = cut(row[place], width)
        padding = "" if place == places[-1] else " " * (width - cells(text))
        colour = None if is_head else _colour(columns[place], row[place])
        shown.append(screen.painted(text, colour) + padding)
        room = None if room is None else room - width - len(_GAP)
    return _GAP.join(shown).rstrip()


def _colour(column: Column, text: str) -> Colour | None:
    return column.colour(text) if column.colour else None
