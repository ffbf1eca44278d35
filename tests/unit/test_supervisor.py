"""A part that fails begins anew, is reported once, and takes nothing else with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from rolecall.errors import LeadershipLostError
from rolecall.supervisor import Supervisor
from tests.unit.workqueue.virtual_clock import VirtualClock


class Part:
    """Fails as scripted, one way after the other, and then goes on."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.begins = 0

    async def run(self) -> None:
        self.begins += 1
        if self.failures:
            raise self.failures.pop(0)
        await asyncio.Event().wait()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


async def keeping(
    clock: VirtualClock, run: Callable[[], Awaitable[None]], restarts: list[str], seconds: float
) -> asyncio.Task[None]:
    task = asyncio.create_task(Supervisor(clock, restarts.append).keep("the part", run))
    await clock.advance(seconds)
    return task


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_part_begins_anew_after_growing_pauses(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    part, restarts = Part(*(ZeroDivisionError("of all things") for _ in range(4))), []  # type: ignore[var-annotated]
    with caplog.at_level(logging.ERROR):
        task = await keeping(clock, part.run, restarts, 6.9)
        assert part.begins == 3
        await clock.advance(60)
    assert part.begins == 5
    assert restarts == ["the part"] * 4
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is not None
    await ended(task)


async def test_another_failure_is_reported_again(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    part = Part(ValueError("a"), ValueError("b"))
    with caplog.at_level(logging.ERROR):
        task = await keeping(clock, part.run, [], 60)
    assert len(caplog.records) == 2
    await ended(task)


async def test_pauses_are_bounded_and_short_again_for_a_part_that_stood(
    clock: VirtualClock,
) -> None:
    begins: list[float] = []

    async def stands_for_long() -> None:
        begins.append(clock.monotonic())
        await clock.sleep(600)
        raise ValueError

    task = await keeping(clock, stands_for_long, [], 3000)
    assert begins == [0, 601, 1202, 1803, 2404]
    await ended(task)
    part = Part(*(ValueError() for _ in range(100)))
    task = await keeping(clock, part.run, [], 3600)
    assert 55 < part.begins < 70
    await ended(task)


async def test_cancelled_from_inside_is_a_failure(clock: VirtualClock) -> None:
    part = Part(asyncio.CancelledError())
    task = await keeping(clock, part.run, [], 1.5)
    assert part.begins == 2
    await ended(task)


async def test_what_ends_the_engine_passes(clock: VirtualClock) -> None:
    part = Part(LeadershipLostError("another leads"))
    task = await keeping(clock, part.run, [], 0)
    with pytest.raises(LeadershipLostError):
        await task


async def test_what_the_engine_can_do_without_is_tried_once(
    clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    part = Part(ZeroDivisionError("of all things"))
    await Supervisor(clock).attempt("the part", part.run)
    assert part.begins == 1
    assert "ZeroDivisionError" in caplog.text


async def test_part_that_is_done_is_done(clock: VirtualClock) -> None:
    async def one_thing() -> None:
        """Something to do once."""

    await (await keeping(clock, one_thing, [], 0))
