"""Work of the page takes turns, on the loop and in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from rolecall.extensions.console.page.turns import Turns


@pytest.fixture
async def turns() -> AsyncIterator[Turns]:
    yield Turns()
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_at_most_two_threads_work_at_a_time(turns: Turns) -> None:
    """The loop waits for each of them, whenever it wakes up."""
    lock, at_work, most = threading.Lock(), 0, 0
    both = threading.Barrier(2)

    def work(number: int) -> int:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        both.wait(10)
        with lock:
            at_work -= 1
        return number

    results = await asyncio.gather(*(turns.in_thread(work, number) for number in range(20)))
    assert results == list(range(20))
    assert most == 2


async def test_work_that_fails_gives_its_turn_back(turns: Turns) -> None:
    for _ in range(5):
        with pytest.raises(ValueError, match="no"):
            await turns.in_thread(int, "no")
    assert await turns.in_thread(int, "7") == 7
