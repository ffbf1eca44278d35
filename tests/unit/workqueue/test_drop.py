"""A key that is dropped is another replica's: nothing is planned for it; one in hand stays there."""

from __future__ import annotations

import random

import pytest

from rolecall.workqueue import Cause, Key, Queue, Urgency
from tests.unit.workqueue.keys import APP, VOLUME, key, queue_of, take_name, waiting
from tests.unit.workqueue.virtual_clock import VirtualClock


def drop(queue: Queue, *names: str) -> list[Key]:
    return queue.drop(lambda each: each.name in names)


async def test_dropped_key_does_not_wait_any_more_and_others_do() -> None:
    queue = queue_of(VirtualClock())
    for name in ("a", "b"):
        queue.add(key(name), Urgency.EDIT)

    assert drop(queue, "a") == []

    assert await take_name(queue) == "b"
    assert waiting(queue) == 0


async def test_dropped_key_does_not_come_back_by_its_delay() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add_after(key("a"), 10.0, Urgency.PERIOD)
    queue.add_after(key("b"), 20.0, Urgency.PERIOD)
    drop(queue, "a")
    await clock.advance(15.0)
    assert waiting(queue) == 0
    await clock.advance(10.0)
    assert await take_name(queue) == "b"


async def test_key_that_comes_back_after_a_drop_has_never_failed() -> None:
    queue = queue_of(VirtualClock())
    first_s = queue.fail(key("a"))
    assert queue.fail(key("a")) > first_s
    drop(queue, "a")
    assert queue.fail(key("a")) == first_s
    queue.close()


async def test_key_in_hand_is_reported_and_stays_in_hand_until_it_is_put_down() -> None:
    queue = queue_of(VirtualClock(), max_runs=2)
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    queue.add(key("a"), Urgency.EDIT)

    assert drop(queue, "a") == [key("a")]

    assert queue.in_hand() == [key("a")]
    queue.done(key("a"))
    assert queue.in_hand() == []
    assert waiting(queue) == 0, "what was asked for before the drop is another's to do"


async def test_key_added_after_the_drop_while_in_hand_is_taken_once_more() -> None:
    queue = queue_of(VirtualClock(), max_runs=2)
    queue.add(key("a"), Urgency.EDIT)
    await queue.take()
    drop(queue, "a")
    queue.add(key("a"), Urgency.STARTUP, Cause("it came back"))
    assert waiting(queue) == 0, "it is in hand still"

    queue.done(key("a"))

    assert (await queue.take()).cause == Cause("it came back")


@pytest.mark.parametrize("seed", range(10))
async def test_whatever_is_dropped_no_other_key_is_lost(seed: int) -> None:
    dice = random.Random(seed)
    clock = VirtualClock()
    queue = queue_of(clock)
    names = [str(number) for number in range(12)]
    wanted: set[str] = set()
    for _ in range(300):
        name = dice.choice(names)
        match dice.randrange(4):
            case 0:
                queue.add(key(name, dice.choice([APP, VOLUME])), dice.choice(list(Urgency)))
                wanted.add(name)
            case 1:
                queue.add_after(key(name), dice.uniform(1, 9), Urgency.PERIOD)
                wanted.add(name)
            case 2:
                queue.fail(key(name))
                wanted.add(name)
            case _:
                drop(queue, name)
                wanted.discard(name)

    await clock.advance(2000.0)

    assert {each.key.name for each in queue.waiting()} == wanted
    assert queue.delayed() == []
