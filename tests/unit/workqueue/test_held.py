"""A key that is held without a run: no turn of it begins meanwhile, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import contextlib

from rolecall.workqueue import Urgency
from tests.unit.workqueue.keys import key, queue_of, take_name, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_key_that_is_held_is_taken_afterwards_and_others_meanwhile() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.STARTUP)
    async with queue.held(key("a")):
        queue.add(key("a"), Urgency.EDIT)
        queue.add(key("b"), Urgency.PERIOD)
        assert await take_name(queue) == "b"
        assert waiting(queue) == 0

    assert (await queue.take()).urgency is Urgency.EDIT


async def test_holder_waits_for_the_turn_and_goes_before_the_next_one() -> None:
    queue = queue_of(VirtualClock(), max_runs=2)
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    order: list[str] = []

    async def hold() -> None:
        async with queue.held(key("a")):
            order.append("held")

    async def work() -> None:
        await queue.take()
        order.append("taken")

    holder, worker = asyncio.create_task(hold()), asyncio.create_task(work())
    await asyncio.sleep(0)
    queue.add(key("a"), Urgency.EDIT)
    assert order == []

    queue.done(key("a"))
    await asyncio.gather(holder, worker)

    assert order == ["held", "taken"]


async def test_holder_that_gives_up_in_the_moment_of_its_turn_leaves_the_key() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()

    async def hold() -> None:
        async with queue.held(key("a")):
            pass

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    queue.done(key("a"))  # it is the holder's now, which does not know yet
    holder.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await holder

    queue.add(key("a"), Urgency.EDIT)
    assert await take_name(queue) == "a"


async def test_queue_is_drained_only_when_nothing_is_held() -> None:
    queue = queue_of(VirtualClock())
    async with queue.held(key("a")):
        drained = asyncio.create_task(queue.wait_drained())
        await asyncio.sleep(0)
        assert not drained.done()
        assert queue.in_hand() == [key("a")]
    await drained


async def test_two_holders_have_a_key_one_after_the_other() -> None:
    queue = queue_of(VirtualClock())
    inside: list[int] = []
    most = 0

    async def hold(number: int) -> None:
        nonlocal most
        async with queue.held(key("a")):
            inside.append(number)
            most = max(most, len(inside))
            await asyncio.sleep(0)
            inside.remove(number)

    await asyncio.gather(*(hold(number) for number in range(5)))

    assert most == 1
    assert queue.in_hand() == []
