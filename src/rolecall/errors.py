"""What goes wrong, sorted by who can mend it; the exit codes of the command line hang on that.

A `Problem` is one fault in something that a person wrote, with its place and its way out. Rooms that
read files collect all problems and raise them together: a user need not fix a file one error at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class RolecallError(Exception):
    """Root of all errors that we raise on purpose; anything else is a bug and shows a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class InputError(RolecallError):
    """Something that a person typed or wrote is wrong; nothing was started."""

    exit_code = 2


class ClusterError(RolecallError):
    """The cluster said no, or could not be reached."""

    exit_code = 3


class NotLeadingError(ClusterError):
    """This replica may not write now: the next renewal of its Lease says whether it may again."""

    def __init__(self, what: str) -> None:
        super().__init__(f"did not {what}: this replica is not the leader now")


class LeadershipLostError(RolecallError):
    """Another replica leads now; this process must write nothing more."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a file: what, where, and the way out."""

    file: str
    line: int | None
    what: str
    details: Sequence[str] = ()
    hint: str = ""
    is_warning: bool = False
    column: int | None = None
    rule: str = ""  # which check found it, for machines

    @property
    def place(self) -> str:
        """As compilers write it, so that editors find it."""
        parts = (self.file, self.line, self.column if self.line is not None else None)
        return ":".join(str(part) for part in parts if part is not None)

    def __str__(self) -> str:
        lines = [f"{self.place}: {'warning: ' if self.is_warning else ''}{self.what}"]
        lines += [f"  {detail}" for detail in self.details]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class ProblemsError(InputError):
    """All faults of one input at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
