"""The steps that a host takes while nothing runs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rolecall_warm.ahead.warm_up import take_all
from rolecall_warm.in_fork import Interrupted


@dataclass
class Step:
    """One that makes something or nothing, or is interrupted."""

    makes: bool = False
    is_interrupted: bool = False
    taken: int = 0

    def make(self, _engine: socket.socket) -> bool:
        self.taken += 1
        if self.is_interrupted:
            raise Interrupted
        return self.makes


@pytest.fixture
def engine() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours


def settled(steps: list[Step], engine: socket.socket) -> int:
    """How often what was made was settled."""
    times: list[None] = []
    try:
        take_all(steps, engine, lambda: times.append(None))
    except Interrupted:
        assert any(step.is_interrupted for step in steps)
    return len(times)


def test_all_steps_are_taken_and_what_they_made_is_settled_once(engine: socket.socket) -> None:
    steps = [Step(makes=True), Step(), Step(makes=True)]
    assert settled(steps, engine) == 1
    assert [step.taken for step in steps] == [1, 1, 1]


def test_nothing_is_settled_where_nothing_was_made(engine: socket.socket) -> None:
    assert settled([Step(), Step()], engine) == 0


def test_order_that_comes_in_between_gets_no_plugins_of_the_step_before(
    engine: socket.socket,
) -> None:
    assert settled([Step(makes=True), Step(is_interrupted=True)], engine) == 1
    assert settled([Step(is_interrupted=True), Step(makes=True)], engine) == 0
