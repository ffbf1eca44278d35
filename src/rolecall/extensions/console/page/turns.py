"""Turns of the page's work, so that the engine's event loop gets its own in between.

All readers get a change at the same moment, and all of them request the page at once. On the loop, each
response takes a millisecond or two, but fifty that are ready together would block it for a tenth of a
second. In threads they hold it, too: each thread that works takes its turn of the interpreter before
the loop does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_MOST_THREADS = 2  # so that a short work need not wait until a long one is over

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._threads = asyncio.Semaphore(_MOST_THREADS)

    async def take(self) -> None:
        """Return when it is one's turn to work until one waits for something."""
        async with self._lock:
            await asyncio.sleep(0)

    async def in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What it returns; it must not wait for other work of the page."""
        async with self._threads:
            return await asyncio.to_thread(work, *args, **kwargs)
