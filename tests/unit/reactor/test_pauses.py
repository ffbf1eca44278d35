"""Pauses grow, end early on good news, and start small after success."""

from __future__ import annotations

import asyncio

from rolecall.reactor.pauses import Pauses
from tests.unit.workqueue.virtual_clock import VirtualClock


async def count_attempts(pauses: Pauses, clock: VirtualClock, seconds: float) -> int:
    attempts = 0

    async def attempt() -> None:
        nonlocal attempts
        while True:
            await pauses.wait()
            attempts += 1

    task = asyncio.create_task(attempt())
    await clock.advance(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return attempts


async def test_pauses_grow_to_their_limit() -> None:
    clock = VirtualClock()
    pauses = Pauses(clock)
    assert 7 <= await count_attempts(pauses, clock, 60) <= 11
    assert 5 <= await count_attempts(pauses, clock, 300 * 0.8) <= 13


async def test_good_news_end_a_pause_and_are_not_lost_when_early() -> None:
    clock = VirtualClock()
    pauses = Pauses(clock)
    await count_attempts(pauses, clock, 100)
    waiting = asyncio.create_task(pauses.wait())
    await clock.rest()
    assert not waiting.done()
    pauses.cut_short()
    await clock.rest()
    assert waiting.done()
    pauses.cut_short()
    await asyncio.wait_for(pauses.wait(), 30)
