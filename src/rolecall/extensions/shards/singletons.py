"""Singleton work of all replicas: the holder of the first shard runs it for as long as it holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress


class SingletonWork:
    """Begins when the shard comes, ends when it goes, and says whether it is over."""

    def __init__(self) -> None:
        self._is_here = asyncio.Event()
        self._has_gone = asyncio.Event()
        self._at_work = 0

    @property
    def is_at_work(self) -> bool:
        return self._at_work > 0

    def comes(self) -> None:
        """The shard came."""
        self._has_gone.clear()
        self._is_here.set()

    def goes(self) -> None:
        """The shard leaves, or was lost."""
        self._is_here.clear()
        self._has_gone.set()

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it again each time the shard comes; raises what it raises, and never returns."""
        while True:
            await self._is_here.wait()
            self._at_work += 1
            try:
                await self._until_gone(work)
            finally:
                self._at_work -= 1
            await self._has_gone.wait()

    async def _until_gone(self, work: Callable[[], Awaitable[None]]) -> None:
        working = asyncio.ensure_future(work())
        gone = asyncio.create_task(self._has_gone.wait(), name="first shard goes")
        try:
            await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
        finally:
            for task in (working, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task
