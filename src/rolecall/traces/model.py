"""What a trace is made of, and what takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rolecall.reconcile import Outcome, TurnTrail
from rolecall.record import RunRecord
from rolecall.workqueue import Turn


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn that had a run, when it is over."""

    turn: Turn
    outcome: Outcome
    trail: TurnTrail
    record: RunRecord | None  # None: nobody noted what the run asked for
    ended_s: float  # on the clock that never jumps


class TurnTraces(Protocol):
    """Takes turns that are over; blocking, and never raises."""

    def take(self, ended: EndedTurn) -> None: ...

    def close(self, timeout_s: float) -> None:
        """Send what waits, as far as that takes no longer, and no more."""
