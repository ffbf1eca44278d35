"""What takes turns to make traces of."""

from __future__ import annotations

from typing import Protocol

from rolecall.extending import EndedTurn
from rolecall.reconcile import TurnTrail


class TurnTraces(Protocol):
    """Takes turns that are over and had a run; blocking, and never raises."""

    def take(self, ended: EndedTurn, trail: TurnTrail) -> None: ...

    def close(self, timeout_s: float) -> None:
        """Send what waits, as far as that takes no longer, and no more."""
