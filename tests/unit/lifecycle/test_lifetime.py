"""How the engine ends: in order, in time, with the right error."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from rolecall.errors import LeadershipLostError, RolecallError
from rolecall.lifecycle import Stop, run_parts, signals_asking
from tests.fixtures.eventually import eventually_async


class Engine:
    """One part, and something in flight."""

    def __init__(self) -> None:
        self.stop = Stop()
        self.story: list[str] = []
        self.part_ends: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.runs_end = asyncio.Event()
        self.task = asyncio.ensure_future(run_parts({"part": self._part()}, self._drain, self.stop))

    async def _part(self) -> None:
        try:
            await self.part_ends
        except asyncio.CancelledError:
            self.story.append("part ended")
            raise

    async def _drain(self, is_patient: bool, reason: str) -> None:
        self.story.append(f"drain {'patiently' if is_patient else 'at once'}: {reason}")
        if is_patient:
            await self.runs_end.wait()
        self.story.append("drained")


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    engine = Engine()
    await asyncio.sleep(0)
    yield engine
    assert engine.task.done()


async def test_runs_in_flight_end_before_the_parts_do(engine: Engine) -> None:
    engine.stop.ask()
    await eventually_async(lambda: engine.story)
    assert engine.story == ["drain patiently: the operator stopped"]
    engine.runs_end.set()
    await engine.task
    assert engine.story[1:] == ["drained", "part ended"]


async def test_second_signal_does_not_wait_for_runs(engine: Engine) -> None:
    with signals_asking(engine.stop):
        os.kill(os.getpid(), signal.SIGTERM)
        await eventually_async(lambda: engine.story)
        os.kill(os.getpid(), signal.SIGINT)
        await engine.task
    assert engine.story[1:] == [
        "drain at once: received a second termination signal",
        "drained",
        "part ended",
    ]


async def test_part_that_fails_ends_all_after_the_drain_and_is_raised(engine: Engine) -> None:
    engine.runs_end.set()
    engine.part_ends.set_exception(RolecallError("broke"))
    with pytest.raises(RolecallError, match="broke"):
        await engine.task
    assert engine.story[-1] == "drained"


async def test_part_that_ends_by_itself_is_an_error(engine: Engine) -> None:
    engine.runs_end.set()
    engine.part_ends.set_result(None)
    with pytest.raises(RuntimeError, match="`part` ended by itself"):
        await engine.task


async def test_lost_leadership_leaves_runs_no_time(engine: Engine) -> None:
    engine.part_ends.set_exception(LeadershipLostError("`b` leads"))
    with pytest.raises(LeadershipLostError):
        await engine.task
    assert engine.story == ["drain at once: `b` leads", "drained"]
