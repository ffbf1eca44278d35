"""What the queue promises about one key, and about workers that wait."""

from __future__ import annotations

import asyncio

import pytest

from rolecall.workqueue import QueueClosedError, Urgency
from tests.unit.workqueue.keys import APP, VOLUME, key, queue_of, take_name, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_key_added_twice_before_it_is_taken_is_taken_once() -> None:
    queue = queue_of(VirtualClock(), max_runs=2)
    for _ in range(3):
        queue.add(key("a"), Urgency.EDIT)

    assert (await queue.take()).key == key("a")
    assert waiting(queue) == 0


async def test_key_added_while_in_hand_is_taken_once_more_afterwards() -> None:
    queue = queue_of(VirtualClock(), max_runs=2)
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    for urgency in (Urgency.PERIOD, Urgency.EDIT, Urgency.STARTUP):
        queue.add(key("a"), urgency)
    assert waiting(queue) == 0

    queue.done(key("a"))

    assert (await queue.take()).urgency is Urgency.EDIT
    queue.done(key("a"))
    assert waiting(queue) == 0


async def test_worker_that_waits_gets_a_key_added_later() -> None:
    queue = queue_of(VirtualClock())
    worker = asyncio.create_task(take_name(queue))
    await asyncio.sleep(0)

    queue.add(key("a"), Urgency.EDIT)

    assert await worker == "a"


async def test_more_urgent_add_moves_a_waiting_key_up() -> None:
    queue = queue_of(VirtualClock())
    for name in ("a", "b", "c"):
        queue.add(key(name), Urgency.STARTUP)
    queue.add(key("c"), Urgency.EDIT)
    queue.add(key("c"), Urgency.PERIOD)

    assert [await take_name(queue) for _ in range(3)] == ["c", "a", "b"]


async def test_kind_at_its_limit_does_not_hide_another() -> None:
    queue = queue_of(VirtualClock(), max_runs=3, per_kind={APP: 1, VOLUME: 2})
    queue.add(key("a1"), Urgency.EDIT)
    queue.add(key("a2"), Urgency.EDIT)
    queue.add(key("v1", VOLUME), Urgency.STARTUP)

    taken = [(await queue.take()).key.name, (await queue.take()).key.name]

    assert taken == ["a1", "v1"]
    queue.done(key("a1"))
    assert (await queue.take()).key.name == "a2"


async def test_all_kinds_together_stay_within_the_global_limit() -> None:
    queue = queue_of(VirtualClock(), max_runs=2, per_kind={APP: 5, VOLUME: 5})
    for gvk in (APP, VOLUME):
        for name in ("1", "2"):
            queue.add(key(name, gvk), Urgency.EDIT)
    await queue.take()
    held = await queue.take()
    third = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    assert not third.done()

    queue.done(held.key)

    assert (await third).key not in (held.key, key("1"))


async def test_cancelled_worker_gives_back_the_key_it_was_just_handed() -> None:
    queue = queue_of(VirtualClock())
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.add(key("a"), Urgency.EDIT)  # served: the future has its result, the task did not run yet

    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker

    assert (await queue.take()).key == key("a")


async def test_cancelled_worker_takes_no_key_with_it() -> None:
    queue = queue_of(VirtualClock())
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)

    queue.add(key("a"), Urgency.EDIT)

    assert await take_name(queue) == "a"


async def test_closed_queue_sends_waiting_and_new_workers_home() -> None:
    queue = queue_of(VirtualClock())
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)

    queue.close()
    queue.add(key("a"), Urgency.EDIT)

    with pytest.raises(QueueClosedError):
        await worker
    with pytest.raises(QueueClosedError):
        await queue.take()


async def test_worker_that_is_cancelled_as_the_queue_closes_ends_as_cancelled() -> None:
    queue = queue_of(VirtualClock())
    worker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)

    queue.close()
    worker.cancel()

    await asyncio.gather(worker, return_exceptions=True)
    assert worker.cancelled()


async def test_closed_queue_is_drained_when_the_last_key_is_put_down() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    queue.close()
    drained = asyncio.create_task(queue.wait_drained())
    await asyncio.sleep(0)
    assert not drained.done()

    queue.done(key("a"))

    await drained


async def test_snapshot_reports_depth_age_and_waits_by_urgency() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add(key("old"), Urgency.STARTUP)
    await clock.advance(4.0)
    queue.add(key("new"), Urgency.EDIT)
    await clock.advance(2.0)
    await queue.take()
    queue.fail(key("other"))

    seen = queue.snapshot()

    assert seen.depth[APP][Urgency.STARTUP] == 1
    assert seen.depth[APP][Urgency.EDIT] == 0
    assert seen.oldest_age_s[Urgency.STARTUP] == pytest.approx(6.0)
    assert seen.oldest_age_s[Urgency.EDIT] == 0
    assert (seen.waits[Urgency.EDIT].count, seen.waits[Urgency.EDIT].total_s) == (1, 2.0)
    assert seen.in_hand == {APP: 1}
    assert (seen.delayed, seen.backing_off, seen.max_runs) == (1, 1, 1)
    queue.close()


async def test_queue_of_which_nothing_was_taken_is_drained() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.EDIT)
    async with asyncio.timeout(5):
        await queue.wait_drained()


async def test_key_goes_to_the_worker_that_still_waits() -> None:
    queue = queue_of(VirtualClock())
    gone, stays = (asyncio.create_task(take_name(queue)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)

    queue.add(key("a"), Urgency.EDIT)

    assert await stays == "a"
