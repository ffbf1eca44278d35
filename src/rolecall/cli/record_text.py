"""A record as text: each task, and below it what it asked for."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.cli.record_words import (
    code_of,
    milliseconds,
    outcome_of,
    seen_in,
    target_of,
    title_of,
)
from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Colour, Screen, cut, plain
from rolecall.record import RecordedRequest, Step

OUTCOMES = {
    "ok": Colour.GREEN,
    "changed": Colour.YELLOW,
    "skipped": Colour.CYAN,
    "failed": Colour.RED,
    "unreachable": Colour.RED,
}
# The same everywhere, so that requests of all tasks stand below each other.
_COLUMNS = (
    Column("", least=2),
    Column("VERB"),
    Column("OBJECT", least=20),
    Column("CODE"),
    Column("TOOK", may_go=1),
    Column("WHAT", least=12, may_go=2),
)


def record_lines(steps: Sequence[Step], screen: Screen) -> list[str]:
    """One table, with a line for each task between its rows."""
    rows = [_row(request) for step in steps for request in step.requests]
    shown = iter(table(_COLUMNS, rows, screen)[1:])
    lines = []
    for step in steps:
        lines.append(_head(step, screen))
        lines += [next(shown) for _ in step.requests]
    return lines


def _head(step: Step, screen: Screen) -> str:
    outcome = outcome_of(step)
    took = "" if step.ended_s is None else milliseconds(step.ended_s - step.began_s)
    told = "  ".join(filter(None, (f"{step.began_s:7.3f}s", plain(title_of(step)))))
    ending = ", ".join(filter(None, (outcome, took)))
    room = None if screen.width is None else screen.width - len(ending) - 2
    cut_told = told if room is None else cut(told, max(20, room))
    colour = OUTCOMES.get(outcome)
    return f"{cut_told}  {screen.painted(ending, colour)}".rstrip()


def _row(request: RecordedRequest) -> Sequence[str]:
    return (
        "  " * 4,
        request.verb,
        target_of(request),
        code_of(request),
        milliseconds(request.seconds),
        seen_in(request),
    )
