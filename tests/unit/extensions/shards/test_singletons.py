"""Work of which there is one is done while the first shard is here, and begins anew when it is back."""

from __future__ import annotations

import asyncio

import pytest

from rolecall.extensions.shards.singletons import SingletonWork


class Work:
    """Counts how often it began, and goes on until it is cancelled or made to fail."""

    def __init__(self) -> None:
        self.begun = 0
        self.ends = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> None:
        self.begun += 1
        await self.ends.wait()
        if self.error is not None:
            raise self.error


async def rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_work_waits_for_the_shard_ends_with_it_and_begins_anew() -> None:
    singletons, work = SingletonWork(), Work()
    running = asyncio.create_task(singletons.run(work))
    await rest()
    assert work.begun == 0

    singletons.comes()
    await rest()
    assert (work.begun, singletons.is_at_work) == (1, True)

    singletons.goes()
    await rest()
    assert not singletons.is_at_work

    singletons.comes()
    await rest()
    assert (work.begun, singletons.is_at_work) == (2, True)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not singletons.is_at_work


async def test_work_that_came_to_its_end_is_not_done_twice_while_the_shard_stays() -> None:
    singletons, work = SingletonWork(), Work()
    work.ends.set()
    running = asyncio.create_task(singletons.run(work))
    singletons.comes()
    await rest()
    assert (work.begun, singletons.is_at_work) == (1, False)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_failed_work_raises_to_its_caller() -> None:
    singletons, work = SingletonWork(), Work()
    work.error = ValueError("no")
    work.ends.set()
    singletons.comes()
    with pytest.raises(ValueError, match="no"):
        await singletons.run(work)
    assert not singletons.is_at_work
