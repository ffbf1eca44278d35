"""Serializes the responses of the page on the engine's event loop, so that other work gets its turn in
between.

All readers get a change at the same moment, and all of them request the page at once. Each response
takes a millisecond or two, but fifty that are ready together would block the loop for a tenth of a
second.
"""

from __future__ import annotations

import asyncio


class Turns:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def take(self) -> None:
        """Return when it is one's turn to work until one waits for something."""
        async with self._lock:
            await asyncio.sleep(0)
