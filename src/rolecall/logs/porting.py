"""Logs conditions that the next ansible-core refuses: once for each place, however often it runs.

Ansible prints its warning in each run, among all else that a play says, and a play's output is read
when something failed. These plays do not fail yet.
"""

from __future__ import annotations

import logging
from pathlib import Path

from rolecall.log_fields import log_fields
from rolecall.runner import RunEvent, broken_conditionals

_logger = logging.getLogger(__name__)

# More places than any operator has; what comes after them is left to `rolecall check`.
_MOST = 1000


class BrokenConditionals:
    """Remembers what was logged, for the life of the process."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, int]] = set()

    def event(self, event: RunEvent) -> None:
        """Log each new place."""
        for found in broken_conditionals(event.stdout):
            place = (found.file, found.line)
            if place in self._reported or len(self._reported) >= _MOST:
                continue
            self._reported.add(place)
            file = Path(found.file)
            shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
            _logger.warning(
                "a condition is not true or false, which ansible-core 2.19 refuses",
                extra=log_fields(
                    place=f"{shown}:{found.line}", type=found.type, hint=found.way_out
                ),
            )
