"""Why a key waits: carried to its turn, and never decided by."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.workqueue import Cause, Queue, Urgency, cause
from tests.unit.workqueue.keys import key, queue_of
from tests.unit.workqueue.virtual_clock import VirtualClock

FIRST, SECOND = Cause("drift of Deployment web"), Cause("drift of Service web")
EDIT = Cause("edit of generation 4")
DOCUMENTED = (Path(__file__).parents[3] / "docs" / "concepts" / "triggers.md").read_text()
REPORTED = [each for each in vars(cause).values() if isinstance(each, Cause) and each.text]


async def cause_of_next(queue: Queue) -> str:
    turn = await queue.take()
    queue.done(turn.key)
    return turn.cause.text


async def test_the_first_of_equally_urgent_causes_stays() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.DEPENDENT, FIRST)
    queue.add(key("a"), Urgency.DEPENDENT, SECOND)

    assert await cause_of_next(queue) == FIRST.text


async def test_the_most_urgent_cause_wins_also_while_the_key_is_in_hand() -> None:
    queue = queue_of(VirtualClock())
    queue.add(key("a"), Urgency.DEPENDENT, FIRST)
    queue.add(key("a"), Urgency.EDIT, EDIT)
    queue.add(key("a"), Urgency.DEPENDENT, SECOND)
    turn = await queue.take()
    assert turn.cause == EDIT

    queue.add(key("a"), Urgency.DEPENDENT, SECOND)
    queue.add(key("a"), Urgency.EDIT, EDIT)
    queue.done(key("a"))

    assert await cause_of_next(queue) == EDIT.text


async def test_retries_are_numbered_until_a_success() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for number in (1, 2, 3):
        queue.fail(key("a"))
        await clock.advance(10.0)
        assert await cause_of_next(queue) == f"retry {number}"
    queue.succeed(key("a"))

    queue.fail(key("a"))
    await clock.advance(10.0)

    assert await cause_of_next(queue) == "retry 1"


async def test_a_period_says_so() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    queue.add_next_period(key("a"), 10.0)
    await clock.advance(20.0)

    assert await cause_of_next(queue) == "period"


async def test_key_that_goes_at_once_waits_for_no_backoff_and_begins_a_new_one() -> None:
    clock = VirtualClock()
    queue = queue_of(clock)
    for _ in range(5):
        queue.fail(key("a"), by_role=True)

    queue.add_at_once(key("a"), EDIT)

    assert await cause_of_next(queue) == EDIT.text
    assert queue.delayed() == []
    assert queue.fail(key("a"), by_role=True) == 1.0
    assert [each.cause.text for each in queue.delayed()] == ["retry 1"]
    queue.close()


@pytest.mark.parametrize("reported", REPORTED, ids=str)
def test_each_displayed_cause_is_documented(reported: Cause) -> None:
    assert f"`{reported}`" in DOCUMENTED
