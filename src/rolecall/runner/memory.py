"""Lets a run begin only when there is memory for it, reckoned by the way it really goes.

The queue hands out keys by what their runs would take, as far as that is known before. This is the
promise behind: where many runs that were to be warm go the stock way at once (a collection was edited,
the host is gone), they wait for each other instead of ending as `Killed`. One run alone always may.

First come, first served: a stock run needs as much as seven warm ones, and would never be let in
between them otherwise. Who waits holds nothing, so none waits for ever. Runs with a client that waits
for their answer go before the others; they are few at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

from rolecall.runner.run_task import RunTask


class Memory:
    """Used from one event loop."""

    def __init__(self, memory_bytes: int | None) -> None:
        """None: nothing is limited."""
        self._memory_bytes = memory_bytes
        self._taken_bytes = 0
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    @contextlib.asynccontextmanager
    async def held(
        self, run_bytes: int, run: RunTask, *, goes_first: bool = False
    ) -> AsyncIterator[bool]:
        """Hold room while the context lasts; False where the run was cancelled while it waited."""
        if not await self._enter(run_bytes, run, goes_first):
            yield False
            return
        try:
            yield True
        finally:
            self._taken_bytes -= run_bytes
            self._let_in()

    async def _enter(self, run_bytes: int, run: RunTask, goes_first: bool) -> bool:
        if (goes_first or not self._waiting) and self._fits(run_bytes):
            self._taken_bytes += run_bytes
            return True
        let_in: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        add = self._waiting.appendleft if goes_first else self._waiting.append
        add((let_in, run_bytes))
        run.on_cancel(lambda _reason: _give_up(let_in))
        try:
            await let_in
        except asyncio.CancelledError:
            if let_in.cancelled() and run.cancelled is not None:
                return False
            if not let_in.cancelled():  # it was let in, and its task cancelled, in the same moment
                self._taken_bytes -= run_bytes
            raise
        finally:
            run.on_cancel(None)
            self._let_in()
        return True

    def _fits(self, run_bytes: int) -> bool:
        if self._memory_bytes is None or self._taken_bytes == 0:
            return True
        return self._taken_bytes + run_bytes <= self._memory_bytes

    def _let_in(self) -> None:
        while self._waiting:
            let_in, run_bytes = self._waiting[0]
            if not let_in.done():
                if not self._fits(run_bytes):
                    return
                self._taken_bytes += run_bytes
                let_in.set_result(None)
            self._waiting.popleft()


def _give_up(let_in: asyncio.Future[None]) -> None:
    let_in.cancel()
