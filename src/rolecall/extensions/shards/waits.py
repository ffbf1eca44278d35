"""Waiting on the engine's clock: for an answer in time, or for a reason to look again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from rolecall.clock import Clock
from rolecall.kube import UnavailableError

T = TypeVar("T")


async def in_time(clock: Clock, call: Coroutine[Any, Any, T], limit_s: float) -> T:
    """What a call answers; a server that says nothing for so long is as good as away."""
    attempt = asyncio.ensure_future(call)
    limit = asyncio.ensure_future(clock.sleep(limit_s))
    try:
        await asyncio.wait({attempt, limit}, return_when=asyncio.FIRST_COMPLETED)
        if not attempt.done():
            raise UnavailableError(
                f"the API server did not answer for {limit_s:g} s", is_timeout=True
            )
        return await attempt
    finally:
        await _ended(attempt, limit)


async def wait_woken(clock: Clock, seconds: float, woken: asyncio.Event) -> bool:
    """Wait so long, or until woken; says whether it was woken, and takes note of it."""
    if not woken.is_set() and seconds > 0:
        waiting = asyncio.ensure_future(woken.wait())
        limit = asyncio.ensure_future(clock.sleep(seconds))
        try:
            await asyncio.wait({waiting, limit}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended(waiting, limit)
    was_woken = woken.is_set()
    woken.clear()
    return was_woken


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
