"""Order by urgency, and that nothing starves: in both directions, at the size of a real start-up."""

from __future__ import annotations

import time

from rolecall.workqueue import Queue, Urgency
from rolecall.workqueue.lanes import MAX_JUMPS
from tests.unit.workqueue.keys import APP, VOLUME, key, queue_of, take_name
from tests.unit.workqueue.virtual_clock import VirtualClock

CRS = 10_000


def add_start_up_list(queue: Queue, size: int = CRS) -> None:
    for number in range(size):
        queue.add(key(f"old-{number}"), Urgency.STARTUP)


async def test_keys_go_by_urgency_and_by_arrival_among_equals() -> None:
    queue = queue_of(VirtualClock())
    for urgency in reversed(Urgency):
        queue.add(key(f"{urgency.name}-1"), urgency)
        queue.add(key(f"{urgency.name}-2"), urgency)

    taken = [await take_name(queue) for _ in range(10)]

    assert taken == [f"{urgency.name}-{n}" for urgency in Urgency for n in (1, 2)]


async def test_edit_during_the_start_of_10000_is_taken_next() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    add_start_up_list(queue)
    for _ in range(100):
        await take_name(queue)
    queue.add(key("edited"), Urgency.EDIT)

    assert await take_name(queue) == "edited"


async def test_edit_is_taken_next_also_when_the_start_up_list_is_long_overdue() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    add_start_up_list(queue)
    await clock.advance(3600.0)
    for round_number in range(50):
        assert (await take_name(queue)).startswith("old-")
        queue.add(key(f"edited-{round_number}"), Urgency.EDIT)
        assert await take_name(queue) == f"edited-{round_number}"


async def test_key_of_the_start_up_list_that_is_edited_is_taken_next() -> None:
    queue = queue_of(VirtualClock())
    add_start_up_list(queue, 1000)
    queue.add(key("old-999"), Urgency.EDIT)

    assert await take_name(queue) == "old-999"


async def test_start_up_list_finishes_under_constant_edits() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    size = 500
    add_start_up_list(queue, size)
    turns, old = 0, 0
    while old < size:
        queue.add(key(f"hot-{turns % 7}", VOLUME), Urgency.EDIT)
        queue.add(key(f"hot-{(turns + 1) % 7}", VOLUME), Urgency.EDIT)
        old += (await take_name(queue)).startswith("old-")
        turns += 1
        await clock.advance(0.1)
        assert turns < (size + 100) * (MAX_JUMPS + 1)

    assert turns > size  # the edits had their share too


async def test_young_keys_of_low_urgency_wait_for_all_edits() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add(key("period"), Urgency.PERIOD)
    for number in range(20):
        queue.add(key(f"edit-{number}"), Urgency.EDIT)

    taken = [await take_name(queue) for _ in range(21)]

    assert taken[-1] == "period"


async def test_overdue_kind_at_its_limit_does_not_hold_up_others() -> None:
    clock = VirtualClock()
    queue = queue_of(clock, max_runs=2, per_kind={APP: 1, VOLUME: 1})
    queue.add(key("long"), Urgency.EDIT)
    await queue.take()
    add_start_up_list(queue, 10)
    await clock.advance(3600.0)
    queue.add(key("new", VOLUME), Urgency.EDIT)

    assert await take_name(queue) == "new"


async def test_10000_keys_of_20_kinds_are_taken_in_little_time() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    kinds = [APP.__class__(APP.group, APP.version, f"Kind{number}") for number in range(20)]
    started = time.process_time()
    for number in range(CRS):
        queue.add(key(str(number), kinds[number % 20]), Urgency.STARTUP)
    for _ in range(CRS):
        await take_name(queue)

    # 0.03 to 0.1 ms a key when measured; the bound only catches a cost that grows with the keys.
    assert time.process_time() - started < 10.0
