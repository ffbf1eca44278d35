"""How long a run stood in line for a slot, by what the engine knows itself.

Promise: a run stands only while the engine owes it a slot that it asked for. So its time limits go on
as soon as it is given one, whatever it says. Rejected: the run's own word for when it goes on. A play
can write into the socket of its reports, and one that never said so had no time limit any more.
"""

from __future__ import annotations

import threading

from rolecall.clock import Clock


class PlaceInLine:
    """One run's place in line. What it says comes in its own thread, slots from any."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._owed: int | None = None  # the request that waits for an answer
        self._since_s: float | None = None
        self.stood_s = 0.0
        self.left_s = 0.0  # when it was last given the slot for which it stood

    @property
    def stands(self) -> bool:
        """Whether it is stopped now, for want of a slot."""
        return self._since_s is not None

    def asks(self, number: int) -> None:
        """It wants a slot."""
        with self._lock:
            self._owed = number

    def stops(self) -> None:
        """It says that it stands still until it has a slot; one that has a slot is not believed."""
        with self._lock:
            if self._owed is not None and self._since_s is None:
                self._since_s = self._clock.monotonic()

    def is_given(self, number: int) -> None:
        """It has the slot that it asked for by this request."""
        with self._lock:
            if number != self._owed:
                return
            self._owed = None
            if self._since_s is not None:
                self.left_s = self._clock.monotonic()
                self.stood_s += self.left_s - self._since_s
                self._since_s = None
