"""A clock that stands still until a test moves it; sleepers wake in order of their deadlines."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
# Turns of the event loop after which whatever was woken has come to rest.
TURNS_TO_REST = 20


class VirtualClock:
    """The `Clock` of unit tests."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._tickets = count()

    def now(self) -> datetime:
        return START + timedelta(seconds=self._now_s)

    def monotonic(self) -> float:
        return self._now_s

    def boottime(self) -> float:
        return self.monotonic()

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now_s + seconds, next(self._tickets), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Let so much time pass, stopping at each deadline on the way."""
        end = self._now_s + seconds
        await self.rest()
        while self._sleepers and self._sleepers[0][0] <= end:
            deadline, _, future = heapq.heappop(self._sleepers)
            self._now_s = max(self._now_s, deadline)
            if not future.done():
                future.set_result(None)
                await self.rest()
        self._now_s = end
        await self.rest()

    async def rest(self) -> None:
        """Let everything that can run do so."""
        for _ in range(TURNS_TO_REST):
            await asyncio.sleep(0)
