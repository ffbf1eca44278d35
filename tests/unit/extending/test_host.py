"""The host notifies extensions of ended turns, and survives what one of them raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.extending import EndedTurn, Endpoints, EngineView, Extension, Extensions
from rolecall.gvk import Gvk
from rolecall.kube import UnavailableError
from rolecall.reconcile import NOT_FOLLOWED, EndedRun, Outcome, TurnTrail
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Key, Turn, Urgency
from tests.fixtures.eventually import eventually_async
from tests.unit.extending.views import engine_view, host_of

TURN = Turn(Key(Gvk("demo.example.com", "v1", "Website"), "shops", "shop"), Urgency.EDIT)


class Hurried(SystemClock):
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class Reported(Extension):
    name = "reported"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self.turns: list[EndedTurn] = []
        self.is_closed = False
        REPORTED.append(self)

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        self.turns += turns

    def close(self, timeout_s: float) -> None:
        self.is_closed = True


class Broken(Extension):
    name = "broken"

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        raise ValueError("a bug of this extension")

    def close(self, timeout_s: float) -> None:
        raise ValueError("another one")


class Refused(Extension):
    """Gets an error of the API server at each step."""

    name = "refused"

    async def run_ended(self, run: EndedRun) -> None:
        raise UnavailableError("the API server does not answer")

    async def on_gone(self, key: Key) -> None:
        raise UnavailableError("the API server does not answer")

    async def sweep(self) -> None:
        raise UnavailableError("the API server does not answer")

    async def stop(self) -> None:
        raise UnavailableError("the API server does not answer")

    async def write_parts(self, parts: Collection[int]) -> None:
        raise UnavailableError("the API server does not answer")

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        raise UnavailableError("the API server does not answer")


class NotAsked(Extension):
    name = "not asked"

    @classmethod
    def begin(cls, engine: EngineView) -> None:
        return None


class Listening(Extension):
    """Opens a port, and is ready once this replica leads."""

    name = "listening"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self.wrong = "does not lead"

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        endpoints.ports["listening"] = 1234
        endpoints.checks["listening"] = lambda: self.wrong
        try:
            yield
        finally:
            del endpoints.ports["listening"]

    def on_leading_change(self) -> None:
        self.wrong = ""

    def begin_end(self) -> None:
        self.wrong = "ends"


class Unopened(Extension):
    name = "unopened"

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        raise InputError("the port is taken")
        yield


REPORTED: list[Reported] = []


@pytest.fixture(autouse=True)
def _nothing_reported_yet() -> None:
    REPORTED.clear()


def outcome() -> Outcome:
    result = RunResult("7", Ending.FINISHED, 0, seconds=0.5)
    return Outcome(trail=TurnTrail(1.0, 1.1, 1.6, "uid", result, NOT_FOLLOWED))


@asynccontextmanager
async def working(host: Extensions) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(run()) for run in host.parts().values()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_extension_is_notified_of_turns_with_a_run(tmp_path: Path) -> None:
    host = host_of([Reported, NotAsked], engine_view(tmp_path, clock=Hurried()))
    async with working(host):
        host.turn_over(TURN, Outcome(why="paused"))
        host.turn_over(TURN, outcome())
        await eventually_async(lambda: REPORTED[0].turns)
        await host.close()
    assert [each.outcome for each in REPORTED[0].turns] == [outcome()]
    assert REPORTED[0].is_closed


async def test_turns_that_ended_last_are_reported_when_the_operator_stops(tmp_path: Path) -> None:
    host = host_of([Reported], engine_view(tmp_path))
    host.turn_over(TURN, outcome())
    await host.close()
    assert len(REPORTED[0].turns) == 1


async def test_extension_that_fails_takes_nothing_from_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faults: list[str] = []
    host = host_of([Broken, Reported], engine_view(tmp_path), faults.append)
    host.turn_over(TURN, outcome())
    with caplog.at_level(logging.ERROR):
        await host.close()
    assert len(REPORTED[0].turns) == 1
    assert REPORTED[0].is_closed
    assert faults == ["extension broken"] * 2
    assert "a bug of this extension" in caplog.text


@pytest.mark.parametrize("step", ["run_ended", "on_gone", "sweep"])
async def test_error_of_the_cluster_is_raised_where_the_engine_comes_again(
    step: str, tmp_path: Path
) -> None:
    host = host_of([Refused], engine_view(tmp_path))
    with pytest.raises(UnavailableError):
        await getattr(host, step)(*() if step == "sweep" else (TURN.key,))


async def test_error_of_the_cluster_costs_other_steps_nothing(tmp_path: Path) -> None:
    faults: list[str] = []
    host = host_of([Refused, Reported], engine_view(tmp_path), faults.append)
    await host.stop()
    await host.write_parts({1})
    host.turn_over(TURN, outcome())
    await host.close()
    assert len(REPORTED[0].turns) == 1
    assert faults == ["extension refused"] * 3


async def test_nothing_runs_for_extensions_that_override_nothing(tmp_path: Path) -> None:
    assert host_of([NotAsked], engine_view(tmp_path)).parts() == {}


async def test_extension_has_its_listeners_open_until_the_engine_ends(tmp_path: Path) -> None:
    host, endpoints = host_of([Listening], engine_view(tmp_path)), Endpoints()
    async with host.opened(endpoints):
        assert endpoints.ports == {"listening": 1234}
        readiness = [endpoints.checks["listening"]()]
        for step in (host.on_leading_change, host.begin_end):
            step()
            readiness.append(endpoints.checks["listening"]())
    assert readiness == ["does not lead", "", "ends"]
    assert endpoints.ports == {}


async def test_extension_that_cannot_open_ends_the_start(tmp_path: Path) -> None:
    host, endpoints = host_of([Listening, Unopened], engine_view(tmp_path)), Endpoints()
    with pytest.raises(InputError, match="the port is taken"):
        async with host.opened(endpoints):
            raise AssertionError("the engine started")
    assert endpoints.ports == {}
