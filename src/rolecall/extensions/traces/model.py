"""What takes turns and calls of handlers to make traces of."""

from __future__ import annotations

from typing import Protocol

from rolecall.extending import Act, EndedTurn
from rolecall.reconcile import TurnTrail
from rolecall.workqueue import Key


class TurnTraces(Protocol):
    """Takes turns that are over and had a run; blocking, and never raises."""

    def take(self, ended: EndedTurn, trail: TurnTrail) -> None: ...

    def take_act(self, key: Key, act: Act) -> None:
        """In any thread."""

    def close(self, timeout_s: float) -> None:
        """Send what waits, as far as that takes no longer, and no more."""
