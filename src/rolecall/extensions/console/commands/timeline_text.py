"""A run's timeline as text: tasks as bars and their requests as marks, on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.cli.terminal import Colour, Screen, cells, cut
from rolecall.extensions.console.commands.record_text import OUTCOMES
from rolecall.extensions.console.commands.record_words import (
    code_of,
    outcome_of,
    target_of,
    title_of,
)
from rolecall.plain_text import plain
from rolecall.record import Phase, RecordedRequest

_WIDTH = 100  # where a program reads
_LEAST_AXIS = 20
_SHOWN_REQUESTS = 12  # of one task; the rest share a line
_TASK, _READ, _WRITE = "━", "·", "▪"
_FAILED = 400


def timeline_lines(
    phases: Sequence[Phase], between: tuple[float, float], screen: Screen
) -> list[str]:
    """As wide as the screen: labels on the left, the axis on the right."""
    width = screen.width or _WIDTH
    room = max((cells(label) for label in _labels(phases)), default=0)
    label = min(room, max(10, width - _LEAST_AXIS - 2, 0), max(24, width * 2 // 5))
    axis = _Axis(between, max(_LEAST_AXIS, width - label - 2))
    lines = [" " * (label + 2) + axis.scale()]
    for phase in phases:
        bar = axis.bar(phase.began_s, between[1] if phase.ended_s is None else phase.ended_s)
        lines.append(_line(title_of(phase), label, screen.painted(bar, _colour(phase))))
        for text, requests in _groups(phase):
            marks = axis.marks(phase, requests)
            lines.append(_line(text, label, screen.painted(marks, _request_colour(requests))))
    return lines


class _Axis:
    def __init__(self, between: tuple[float, float], width: int) -> None:
        self._first_s, self._width = between[0], width
        self._length_s = max(between[1] - between[0], 0.001)

    def place(self, at_s: float) -> int:
        return max(
            0, min(self._width - 1, int((at_s - self._first_s) / self._length_s * self._width))
        )

    def bar(self, began_s: float, ended_s: float) -> str:
        first, last = self.place(began_s), self.place(ended_s)
        return " " * first + _TASK * (last - first + 1)

    def marks(self, phase: Phase, requests: Sequence[RecordedRequest]) -> str:
        """`phase` says how far its first request is from the run's beginning."""
        row = [" "] * self._width
        for request, at_s in zip(requests, _times(phase, requests), strict=True):
            first, last = self.place(at_s), self.place(at_s + request.seconds)
            sign = _WRITE if request.is_write else _READ
            for each in range(first, last + 1):
                row[each] = _WRITE if row[each] == _WRITE else sign
        return "".join(row).rstrip()

    def scale(self) -> str:
        """Times, as many as fit."""
        row = [" "] * self._width
        for part in range(4):
            text = f"{self._first_s + self._length_s * part / 4:.2f}s"
            start = self._width * part // 4
            row[start : start + len(text) + 1] = f"|{text}"
        return "".join(row)[: self._width].rstrip()


def _times(phase: Phase, requests: Sequence[RecordedRequest]) -> list[float]:
    """Since the run's beginning."""
    return [each.at_s - phase.origin_s for each in requests]


def _labels(phases: Sequence[Phase]) -> list[str]:
    return [title_of(phase) for phase in phases] + [
        text for phase in phases for text, _ in _groups(phase)
    ]


def _groups(phase: Phase) -> list[tuple[str, list[RecordedRequest]]]:
    """Each request by itself, as long as there are not too many."""
    shown, rest = phase.requests[:_SHOWN_REQUESTS], phase.requests[_SHOWN_REQUESTS:]
    rows = [(f"  {each.verb} {target_of(each)} {code_of(each)}", [each]) for each in shown]
    return [*rows, (f"  {len(rest):,} more requests", rest)] if rest else rows


def _line(label: str, room: int, drawn: str) -> str:
    text = cut(("  " if label.startswith("  ") else "") + plain(label), room)
    return (text + " " * (room - cells(text) + 2) + drawn).rstrip()


def _colour(phase: Phase) -> Colour | None:
    return OUTCOMES.get(outcome_of(phase), Colour.GREY if phase.task is None else Colour.RED)


def _request_colour(requests: Sequence[RecordedRequest]) -> Colour | None:
    codes = [each.code for each in requests]
    # "Not found" is an answer that plays ask for.
    if any(code >= _FAILED and code != 404 for code in codes):
        return Colour.RED
    return Colour.YELLOW if any(each.is_write for each in requests) else Colour.GREEN
