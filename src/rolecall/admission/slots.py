"""Which plays of admission run now: so many at a time, each in a folder of its own.

They have places of their own, so that neither long reconciles keep the API server waiting, nor a
thousand requests the reconciles. A folder belongs to a place and not to an object: of one object there
may be many requests at a time, and of most objects the next one never comes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path


class Slots:
    """Used from one event loop."""

    def __init__(self, root: Path, most: int) -> None:
        self._free: asyncio.LifoQueue[Path] = asyncio.LifoQueue()
        for number in reversed(range(most)):
            self._free.put_nowait(root / str(number))

    @contextlib.asynccontextmanager
    async def taken(self) -> AsyncIterator[Path]:
        """Wait for a place, which is this caller's while the context lasts; yields its folder."""
        folder = await self._free.get()
        try:
            yield folder
        finally:
            self._free.put_nowait(folder)
