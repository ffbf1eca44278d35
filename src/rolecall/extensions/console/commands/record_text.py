"""A record as text: each task, and below it what it asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Colour, Screen, cut
from rolecall.extensions.console.commands.record_words import (
    code_of,
    milliseconds,
    outcome_of,
    seen_in,
    target_of,
    title_of,
)
from rolecall.plain_text import plain
from rolecall.record import Phase, RecordedRequest

OUTCOMES = {
    "ok": Colour.GREEN,
    "changed": Colour.YELLOW,
    "skipped": Colour.CYAN,
    "failed": Colour.RED,
    "unreachable": Colour.RED,
}
_INDENT = " " * 10  # below what a task is called
# The same everywhere, so that requests of all tasks stand below each other.
_COLUMNS = (
    Column("VERB"),
    Column("OBJECT", least=20),
    Column("CODE"),
    Column("TOOK", may_go=1),
    Column("WHAT", least=12, may_go=2),
)


def record_lines(phases: Sequence[Phase], screen: Screen) -> list[str]:
    """One table, with a line for each task between its rows."""
    rows = [_row(request) for phase in phases for request in phase.requests]
    room = None if screen.width is None else screen.width - len(_INDENT)
    shown = iter(table(_COLUMNS, rows, replace(screen, width=room))[1:])
    lines = []
    for phase in phases:
        lines.append(_head(phase, screen))
        lines += [f"{_INDENT}{next(shown)}" for _ in phase.requests]
    return lines


def _head(phase: Phase, screen: Screen) -> str:
    outcome = outcome_of(phase)
    took = "" if phase.ended_s is None else milliseconds(phase.ended_s - phase.began_s)
    title = "  ".join(filter(None, (f"{phase.began_s:7.3f}s", plain(title_of(phase)))))
    ending = ", ".join(filter(None, (outcome, took)))
    room = None if screen.width is None else screen.width - len(ending) - 2
    shown = title if room is None else cut(title, max(20, room))
    colour = OUTCOMES.get(outcome)
    return f"{shown}  {screen.painted(ending, colour)}".rstrip()


def _row(request: RecordedRequest) -> Sequence[str]:
    return (
        request.verb,
        target_of(request),
        code_of(request),
        milliseconds(request.seconds),
        seen_in(request),
    )
