"""What the checks found: problems with their places, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rolecall.errors import Problem


@dataclass(slots=True)
class Findings:
    """Collects; the checks only add."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # no fault, but something was not checked

    def error(
        self,
        file: str,
        line: int | None,
        what: str,
        *,
        details: Sequence[str] = (),
        hint: str = "",
    ) -> None:
        """Something that keeps a kind from being reconciled."""
        self.problems.append(Problem(file, line, what, tuple(details), hint))

    def warn(
        self,
        file: str,
        line: int | None,
        what: str,
        *,
        details: Sequence[str] = (),
        hint: str = "",
    ) -> None:
        """Something that works differently from what its author may think."""
        self.problems.append(Problem(file, line, what, tuple(details), hint, is_warning=True))

    @property
    def errors(self) -> list[Problem]:
        """Without the warnings."""
        return [problem for problem in self.problems if not problem.is_warning]
