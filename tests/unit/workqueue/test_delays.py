"""Coming back later: periods, backoff, and what the earliest deadline means."""

from __future__ import annotations

import asyncio

import pytest

from rolecall.settings import QueueSettings
from rolecall.workqueue import Key, Limits, Queue, Urgency
from rolecall.workqueue.delays import Delays
from tests.unit.workqueue.keys import APP, key, queue_of, take_name, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_delayed_key_waits_for_its_time() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add_after(key("a"), 60.0, Urgency.PERIOD)

    await clock.advance(59.9)
    assert waiting(queue) == 0
    await clock.advance(0.1)

    assert waiting(queue) == 1
    queue.close()


@pytest.mark.parametrize("delays", [(10.0, 60.0), (60.0, 10.0)])
async def test_earliest_deadline_of_a_key_wins_and_the_later_is_dropped(
    delays: tuple[float, float],
) -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for delay_s in delays:
        queue.add_after(key("a"), delay_s, Urgency.PERIOD)

    await clock.advance(10.0)
    assert await take_name(queue) == "a"
    await clock.advance(100.0)

    assert waiting(queue) == 0


async def test_event_between_does_not_move_a_deadline() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add_after(key("a"), 60.0, Urgency.PERIOD)
    await clock.advance(50.0)
    queue.add(key("a"), Urgency.EDIT)
    await take_name(queue)
    queue.add_after(key("a"), 60.0, Urgency.PERIOD)

    await clock.advance(10.0)

    assert (await queue.take()).urgency is Urgency.PERIOD


async def test_keys_fall_due_in_order_of_their_deadlines() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for name, delay_s in (("c", 30.0), ("a", 10.0), ("b", 20.0)):
        queue.add_after(key(name), delay_s, Urgency.PERIOD)

    await clock.advance(40.0)

    assert [await take_name(queue) for _ in range(3)] == ["a", "b", "c"]


async def test_no_delay_means_now() -> None:
    queue = queue_of(VirtualClock())
    queue.add_after(key("a"), 0.0, Urgency.PERIOD)

    assert waiting(queue) == 1


async def test_failures_double_the_wait_up_to_the_cap() -> None:
    queue = queue_of(VirtualClock())

    waits = [queue.fail(key("a")) for _ in range(100)]

    assert waits[:4] == [0.005, 0.010, 0.020, 0.040]
    assert waits[17:19] == [0.005 * 2**17, 1000.0]
    assert waits[-1] == 1000.0
    queue.close()


async def test_a_role_that_failed_is_tried_again_after_a_second_at_first() -> None:
    queue = queue_of(VirtualClock())

    waits = [queue.fail(key("a"), by_role=True) for _ in range(12)]

    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[9:] == [512.0, 1000.0, 1000.0]
    queue.close()


async def test_errors_of_both_kinds_in_a_row_never_shorten_the_wait() -> None:
    queue = queue_of(VirtualClock())
    by_role = [False, False, True, False, True]

    waits = [queue.fail(key("a"), by_role=each) for each in by_role]

    assert waits == [0.005, 0.010, 1.0, 2.0, 4.0]
    queue.close()


async def test_success_resets_the_backoff() -> None:
    queue = queue_of(VirtualClock())
    for _ in range(5):
        queue.fail(key("a"))

    queue.succeed(key("a"))

    assert queue.fail(key("a")) == 0.005
    queue.close()


async def test_failed_key_comes_back_as_a_retry() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.fail(key("a"))

    await clock.advance(0.005)

    assert (await queue.take()).urgency is Urgency.RETRY


async def test_forgotten_key_has_no_backoff_and_no_deadline() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for _ in range(5):
        queue.fail(key("a"))

    queue.forget(key("a"))
    await clock.advance(2000.0)

    assert waiting(queue) == 0
    assert queue.fail(key("a")) == 0.005
    queue.close()


async def test_object_created_anew_while_the_old_one_is_forgotten_is_not_lost() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    queue.add(key("a"), Urgency.EDIT)

    queue.forget(key("a"))
    queue.done(key("a"))

    assert await take_name(queue) == "a"


async def test_periods_spread_over_the_jitter_and_never_come_early() -> None:
    clock = VirtualClock()
    queue = queue_of(clock, jitter=0.1)
    for number in range(200):
        queue.add_next_period(key(str(number)), 100.0)

    await clock.advance(99.9)
    assert waiting(queue) == 0
    await clock.advance(5.1)
    assert 40 < waiting(queue) < 160
    await clock.advance(5.1)

    assert waiting(queue) == 200


async def test_jitter_is_the_settings_part_of_the_period() -> None:
    clock = VirtualClock()
    limits = Limits(1, {APP: 1})
    queue = Queue(clock, limits, QueueSettings(jitter=0.2), uniform=lambda low, high: high)
    queue.add_next_period(key("a"), 100.0)

    await clock.advance(119.9)
    assert waiting(queue) == 0
    await clock.advance(0.2)
    assert waiting(queue) == 1


def alarms() -> int:
    """How many tasks wait for a deadline."""
    return sum(task.get_name() == "queue alarm" for task in asyncio.all_tasks())


async def test_one_alarm_waits_however_often_an_earlier_deadline_comes() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for number in range(4):
        queue.add_after(key(str(number)), 10.0 - number, Urgency.PERIOD)
        await clock.rest()
    assert alarms() == 1

    await clock.advance(20.0)

    assert (waiting(queue), alarms()) == (4, 0)


async def test_no_alarm_waits_after_the_queue_was_closed() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add_after(key("early"), 1.0, Urgency.PERIOD)
    queue.close()
    queue.add_after(key("late"), 2.0, Urgency.PERIOD)
    await clock.rest()

    assert alarms() == 0


def test_replaced_deadlines_do_not_pile_up() -> None:
    delays = Delays()
    keys = [Key(APP, "default", str(number)) for number in range(10)]
    for step in range(10_000):
        delays.add(keys[step % 10], 1e6 - step, Urgency.PERIOD)
        delays.next_deadline()

    assert len(delays) == 10
    assert len(delays._heap) < 200
