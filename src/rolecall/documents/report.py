"""Collects what is wrong with a watches file, so that all of it is reported at once.

Readers go on after a fault wherever the rest still makes sense; what they return after a fault is never
used, because the load as a whole then fails.
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from rolecall.documents.expansion import ExpandedText
from rolecall.errors import Problem


class Report:
    """The problems of one file, each with the line that a person has to look at."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Problem] = []
        self._text = ExpandedText("", (1,))

    def located_in(self, text: ExpandedText) -> None:
        """From now on lines are those of `text`, reported as the file's own."""
        self._text = text

    def line(self, node: yaml.Node) -> int:
        """The file's line on which a node starts."""
        return self._text.origin(node.start_mark.line)

    def line_of_mark(self, line: int) -> int:
        """The file's line for a line of the expanded text, from 0."""
        return self._text.origin(line)

    def error(
        self, line: int | None, what: str, *, details: Sequence[str] = (), hint: str = ""
    ) -> None:
        """Something that keeps the file from being used."""
        self.found.append(Problem(self.file, line, what, tuple(details), hint))

    def warn(
        self, line: int | None, what: str, *, details: Sequence[str] = (), hint: str = ""
    ) -> None:
        """Something that a person should look at; the file works."""
        self.found.append(Problem(self.file, line, what, tuple(details), hint, is_warning=True))

    def warn_environment(self, what: str, *, hint: str = "") -> None:
        """Something odd about an environment variable, which has no line."""
        self.found.append(Problem("environment", None, what, (), hint, is_warning=True))

    @property
    def has_errors(self) -> bool:
        return any(not problem.is_warning for problem in self.found)

    def in_order(self) -> list[Problem]:
        """Everything found, once, from the top of the file to its end."""
        return sorted(dict.fromkeys(self.found), key=lambda problem: problem.line or 0)
