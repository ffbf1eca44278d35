"""Turns that ended reach extensions in a thread, some at a time, and what waits for it is bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from rolecall.clock import SystemClock
from rolecall.extending import EndedTurn, ended_turns
from rolecall.extending.ended_turns import EndedTurns
from rolecall.gvk import Gvk
from rolecall.reconcile import NOT_FOLLOWED, FollowedRun, Outcome, TurnTrail
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Key, Turn, Urgency
from tests.fixtures.eventually import eventually_async

RESULT = RunResult("7", Ending.FINISHED, 0, seconds=0.5)
RAN = Outcome(trail=TurnTrail(1.0, 1.1, 1.6, "uid", RESULT, FollowedRun()))


class Delivered:
    """What was delivered, and by which threads."""

    def __init__(self) -> None:
        self.parts: list[list[str]] = []
        self.turns: list[EndedTurn] = []
        self.threads: set[int] = set()

    def __call__(self, turns: Sequence[EndedTurn]) -> None:
        self.threads.add(threading.get_ident())
        self.turns += turns
        self.parts.append([each.turn.key.name for each in turns])


def turn(name: str) -> Turn:
    return Turn(Key(Gvk("demo.example.com", "v1", "Website"), "shops", name), Urgency.EDIT)


async def test_turns_of_a_moment_are_delivered_together_in_a_thread() -> None:
    delivered = Delivered()
    turns = EndedTurns(SystemClock(), delivered)
    running = asyncio.ensure_future(turns.run())
    for name in ("a", "b"):
        turns.add(turn(name), RAN)
    await eventually_async(lambda: delivered.parts)
    turns.add(turn("c"), RAN)
    await eventually_async(lambda: len(delivered.parts) == 2)
    running.cancel()
    assert delivered.parts == [["a", "b"], ["c"]]
    assert threading.get_ident() not in delivered.threads
    assert not turns.is_behind


@pytest.mark.parametrize(
    ("outcome", "is_reported"),
    [
        (RAN, True),
        (Outcome(forget=True), True),  # of a deleted CR: what is counted of it can go
        (Outcome(why="paused"), False),
    ],
)
def test_turns_with_a_run_and_of_deleted_crs_are_reported(
    outcome: Outcome, *, is_reported: bool
) -> None:
    delivered = Delivered()
    turns = EndedTurns(SystemClock(), delivered)
    turns.add(turn("a"), outcome)
    turns.work_off()
    assert [each.outcome for each in delivered.turns] == [outcome] * is_reported


def test_turns_that_wait_for_a_machine_that_hangs_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The newest are kept; those above a thousand without what takes memory."""
    monkeypatch.setattr(ended_turns, "_MOST_WAITING", 5)
    monkeypatch.setattr(ended_turns, "_MOST_WITH_FINDINGS", 3)
    delivered = Delivered()
    turns = EndedTurns(SystemClock(), delivered)
    for number in range(7):
        turns.add(turn(str(number)), RAN)
    assert turns.is_behind
    turns.work_off()
    assert delivered.parts == [["2", "3", "4", "5", "6"]]
    assert RAN.trail is not None
    without = replace(RAN, trail=replace(RAN.trail, followed=NOT_FOLLOWED))
    assert [each.outcome for each in delivered.turns] == [RAN] + [without] * 4
