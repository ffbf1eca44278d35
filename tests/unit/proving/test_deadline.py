"""Work that is limited ends when its time is up, whatever it waits for, and however it cleans up."""

from __future__ import annotations

import asyncio

import pytest

from rolecall_dev.proving.side_by_side import ended_within

FOREVER_S = 3600


async def test_work_that_ends_is_not_broken_off() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    assert await ended_within(work(), 10)
    assert await ended_within(work(), None)


async def test_what_the_work_raises_comes_out() -> None:
    async def work() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await ended_within(work(), 10)


async def test_work_that_hangs_may_clean_up() -> None:
    cleaned: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(FOREVER_S)
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async with asyncio.timeout(10):
        assert not await ended_within(work(), 0.01)
    assert cleaned


async def test_cleaning_up_that_hangs_at_each_level_is_broken_off_too() -> None:
    left: list[int] = []

    async def work(level: int = 0) -> None:
        try:
            await (work(level + 1) if level < 3 else asyncio.sleep(FOREVER_S))
        finally:
            left.append(level)
            await asyncio.sleep(FOREVER_S)

    async with asyncio.timeout(10):
        assert not await ended_within(work(), 0.01, grace_s=0.01)
    assert left == [3, 2, 1, 0]


async def test_cancelled_caller_ends_the_work() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.sleep(FOREVER_S)
        finally:
            ended.set()

    limited = asyncio.create_task(ended_within(work(), None))
    await began.wait()
    limited.cancel()
    with pytest.raises(asyncio.CancelledError):
        await limited
    assert ended.is_set()
