"""How extensions follow a run in flight, and what they publish of it for others to ask for.

A finding is asked for by its type, so its reader need not know which extension makes it; where none
does, there is no finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from rolecall.json_object import Json
from rolecall.runner import RunEvent
from rolecall.watches import Watch

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run that is about to get access to the API server."""

    run_id: str
    cr: Json
    watch: Watch
    is_without_effect: bool = False  # nothing that it writes is kept


class FollowedRun:
    """A run as a turn knows its followers; this one has none."""

    def event(self, event: RunEvent) -> None:
        """The play reported something; called in the run's thread."""

    def leave_beside(self, folder: Path) -> None:
        """The run is over: write what is to be kept beside its artifacts; blocking."""

    def finding(self, kind: type[T]) -> T | None:  # noqa: ARG002 - for those that override it
        """What is published of this run, as known by now."""
        return None


NOT_FOLLOWED = FollowedRun()


class RunFindings:
    """What is published of a run that is over; each is made once."""

    def __init__(self, followed: FollowedRun) -> None:
        self._followed = followed
        self._found: dict[type, object] = {}

    def of(self, kind: type[T]) -> T | None:
        if kind not in self._found:
            self._found[kind] = self._followed.finding(kind)
        return cast("T | None", self._found[kind])
