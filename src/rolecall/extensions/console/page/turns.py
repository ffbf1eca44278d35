"""Who may work on the engine's loop next: answers are made one after the other, and the loop looks at
everything else in between.

One change is told to all readers at the same moment, and all of them ask at once. Each answer takes a
millisecond or two, but fifty that the loop finds ready together would hold it for a tenth of a second.
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
