"""Turns that are over, on their way to extensions that count them, write them down or draw them.

Promises: a turn pays for one entry in a list; the work is done in a thread, some turns at a time. Of an
engine that is killed the last second is lost.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from rolecall.clock import Clock
from rolecall.extending.extension import EndedTurn
from rolecall.reconcile import NOT_FOLLOWED, Outcome
from rolecall.runner import in_thread
from rolecall.workqueue import Turn

_TOGETHER_S = 1.0
# Of turns that wait for a disk or a machine that hangs; what comes above it pushes out the oldest.
_MOST_WAITING = 10_000
# Above this, they wait without what extensions publish of them, which takes memory.
_MOST_WITH_FINDINGS = 1_000


class EndedTurns:
    def __init__(self, clock: Clock, deliver: Callable[[Sequence[EndedTurn]], None]) -> None:
        """`deliver` is called in a thread."""
        self._clock, self._deliver = clock, deliver
        self._waiting: deque[EndedTurn] = deque(maxlen=_MOST_WAITING)
        self._has_come = asyncio.Event()
        self._one_at_a_time = threading.Lock()

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting)

    def add(self, turn: Turn, outcome: Outcome) -> None:
        """A turn has ended, with a run or without."""
        trail = outcome.trail
        if trail is None and not outcome.forget:
            return
        if trail is not None and len(self._waiting) >= _MOST_WITH_FINDINGS:
            outcome = replace(outcome, trail=replace(trail, followed=NOT_FOLLOWED))
        self._waiting.append(EndedTurn(turn, outcome, self._clock.monotonic()))
        self._has_come.set()

    async def run(self) -> None:
        """Work off what comes, until cancelled."""
        while True:
            await self._has_come.wait()
            self._has_come.clear()
            await self._clock.sleep(_TOGETHER_S)
            await in_thread(self.work_off)

    def work_off(self) -> None:
        """Deliver all that wait; blocking."""
        with self._one_at_a_time:
            turns = []
            while self._waiting:
                turns.append(self._waiting.popleft())
            if turns:
                self._deliver(turns)
