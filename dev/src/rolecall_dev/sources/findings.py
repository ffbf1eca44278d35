"""What the checks found: problems with their places, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rolecall.errors import Problem


class Line(int):
    """The number of a line that also knows the column, where somebody looked for it."""

    column: int | None

    def __new__(cls, number: int, column: int | None = None) -> Line:
        line = super().__new__(cls, number)
        line.column = column
        return line


class Findings:
    """Collects; the checks only add."""

    def __init__(self) -> None:
        # The check that is looking: machines sort by it.
        self.rule = ""
        self.problems: list[Problem] = []
        self.notes: list[str] = []  # no fault, but something was not checked
        # Something that keeps a kind from being reconciled.
        self.error = partial(self._add, is_warning=False)
        # Something that works differently from what its author may think.
        self.warn = partial(self._add, is_warning=True)

    @property
    def errors(self) -> list[Problem]:
        """Without the warnings."""
        return [problem for problem in self.problems if not problem.is_warning]

    def _add(
        self,
        file: str,
        line: int | None,
        what: str,
        *,
        is_warning: bool,
        details: Sequence[str] = (),
        hint: str = "",
    ) -> None:
        column = line.column if isinstance(line, Line) else None
        self.problems.append(
            Problem(file, line, what, tuple(details), hint, is_warning, column, self.rule)
        )
