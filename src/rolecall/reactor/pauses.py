"""Growing pauses between attempts, that good news can cut short."""

from __future__ import annotations

import asyncio
import random

from rolecall.clock import Clock

_FIRST_S = 0.1
# Long enough not to hammer a server in trouble, short enough for a person who just granted a right.
_LONGEST_S = 30.0


class Pauses:
    """Pauses between attempts at one thing: each `wait` is longer, until `reset`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next_s = _FIRST_S
        self._news = asyncio.Event()

    def reset(self) -> None:
        """An attempt succeeded."""
        self._next_s = _FIRST_S

    def cut_short(self) -> None:
        """There are news: end the current pause, or else the next one, and start small again."""
        self.reset()
        self._news.set()

    async def wait(self) -> None:
        # Jitter: kinds that failed together should not come back together.
        pause_s = self._next_s * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
        self._next_s = min(self._next_s * 2, _LONGEST_S)
        waits = (
            asyncio.ensure_future(self._news.wait()),
            asyncio.ensure_future(self._clock.sleep(pause_s)),
        )
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        self._news.clear()
