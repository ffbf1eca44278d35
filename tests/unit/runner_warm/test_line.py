"""How long a run stood in line: by the engine's own clock, and never by the run's word alone."""

from __future__ import annotations

from rolecall.runner.warm.line import PlaceInLine
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_run_stands_from_its_word_until_it_is_given_what_it_asked_for() -> None:
    clock = VirtualClock()
    line = PlaceInLine(clock)
    line.asks(1)
    assert not line.stands
    line.stops()
    await clock.advance(5.0)
    assert line.stands

    line.is_given(1)

    assert (line.stands, line.stood_s, line.left_s) == (False, 5.0, 5.0)


async def test_run_that_was_given_its_slot_stands_no_more_however_often_it_says_so() -> None:
    clock = VirtualClock()
    line = PlaceInLine(clock)
    line.stops()
    assert not line.stands
    line.asks(1)
    line.is_given(1)
    line.stops()

    await clock.advance(60.0)

    assert (line.stands, line.stood_s) == (False, 0.0)


async def test_answer_to_an_earlier_request_is_no_slot() -> None:
    clock = VirtualClock()
    line = PlaceInLine(clock)
    line.asks(1)
    line.asks(2)
    line.stops()

    line.is_given(1)
    assert line.stands

    line.is_given(2)
    assert not line.stands


async def test_time_in_line_is_added_up_and_saying_it_twice_begins_nothing_anew() -> None:
    clock = VirtualClock()
    line = PlaceInLine(clock)
    for number in (1, 2):
        line.asks(number)
        line.stops()
        await clock.advance(2.0)
        line.stops()
        await clock.advance(1.0)
        line.is_given(number)
        await clock.advance(10.0)

    assert (line.stood_s, line.left_s) == (6.0, 16.0)
