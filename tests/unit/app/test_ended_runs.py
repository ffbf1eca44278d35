"""A run that has ended is counted, written down and traced, and its turn waits for none of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.ended_runs import EndedRuns, used_by
from rolecall.gvk import Gvk
from rolecall.reconcile import Outcome, TurnTrail
from rolecall.record import RecordedRequest, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.traces import EndedTurn
from rolecall.usage import USAGE_FOLDER, CrOfRuns, Usage, UsageLedger, read_usage
from rolecall.workqueue import Key, Turn, Urgency
from tests.fixtures.eventually import eventually_async

SITE = Gvk("demo.example.com", "v1", "Website")
KEY = Key(SITE, "shops", "shop")
NAME = CrOfRuns("demo.example.com/v1", "Website", "shops", "shop")
TURN = Turn(KEY, Urgency.EDIT)
NOW = datetime.now(UTC)


class Traced:
    def __init__(self) -> None:
        self.ended: list[EndedTurn] = []
        self.is_closed = False

    def take(self, ended: EndedTurn) -> None:
        self.ended.append(ended)

    def close(self, timeout_s: float) -> None:
        self.is_closed = True


class Hurried(SystemClock):
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def outcome(ending: Ending = Ending.FINISHED, cpu_s: float | None = 0.25) -> Outcome:
    result = RunResult("7", ending, 0, seconds=0.5, cpu_s=cpu_s)
    return Outcome(trail=TurnTrail(1.0, 1.1, 1.6, "uid", result, None))


def request(verb: str, name: str, code: int = 200, **more: object) -> RecordedRequest:
    known = {"is_owned": True, **more}
    about = ("", "v1", "configmaps", "", "shops", name, code)
    return RecordedRequest(0, 1.0, 0.1, verb, *about, **known)  # type: ignore[arg-type]


def record(*requests: RecordedRequest, incomplete: str = "") -> RunRecord:
    return RunRecord("7", NOW, 1.0, requests=requests, incomplete=incomplete)


@asynccontextmanager
async def working(root: Path, traced: Traced, told: list[Usage]) -> AsyncIterator[EndedRuns]:
    ended = EndedRuns(UsageLedger(root), Hurried(), lambda _key, used: told.append(used), traced)
    task = asyncio.create_task(ended.run())
    try:
        yield ended
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_run_is_counted_written_down_and_traced(tmp_path: Path) -> None:
    traced, told = Traced(), list[Usage]()
    async with working(tmp_path, traced, told) as ended:
        ended.turn_over(TURN, outcome())
        ended.turn_over(TURN, Outcome(why="paused"))
        await eventually_async(lambda: told)
        await ended.close()
    assert told == [Usage(1, 0, 0.5, 0.25, 0, None)]
    assert read_usage(tmp_path, NOW - timedelta(hours=2))[0] == {NAME: told[0]}
    assert [each.turn for each in traced.ended] == [TURN]
    assert traced.is_closed


async def test_what_ended_last_is_written_when_the_operator_stops(tmp_path: Path) -> None:
    ended = EndedRuns(UsageLedger(tmp_path), SystemClock(), lambda *_: None)
    ended.turn_over(TURN, outcome())
    await ended.close()
    assert read_usage(tmp_path, NOW - timedelta(hours=2))[0][NAME].runs == 1


async def test_folder_that_cannot_be_written_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / USAGE_FOLDER).write_text("in the way")
    told: list[Usage] = []
    with caplog.at_level(logging.WARNING):
        async with working(tmp_path, Traced(), told) as ended:
            for number in (1, 2):
                ended.turn_over(TURN, outcome())
                await eventually_async(lambda number=number: len(told) == number)  # type: ignore[misc]
            await ended.close()
    assert caplog.messages == ["what runs use could not be written down"]


def test_objects_are_those_that_a_good_run_saw_last_as_its_own() -> None:
    seen = record(
        request("get", "gone", 404, is_owned=False),
        request("create", "a", 201),
        request("patch", "a"),
        request("get", "b"),
        request("get", "of-another", is_owned=False),
        request("create", "dropped", 201),
        request("delete", "dropped", is_owned=False),
        request("delete", "b", 409, is_owned=False),
        request("create", "tried", 201, query="dryRun=All"),
    )
    assert used_by(outcome(), seen) == Usage(1, 0, 0.5, 0.25, 9, 2)
    assert used_by(outcome(Ending.TIMED_OUT), seen).owned is None
    assert used_by(outcome(), record(incomplete="too many")).owned is None


def test_cancelled_run_costs_and_has_not_failed() -> None:
    assert used_by(outcome(Ending.CANCELLED), None) == Usage(1, 0, 0.5, 0.25, 0, None)
    assert used_by(outcome(Ending.KILLED, None), None) == Usage(1, 1, 0.5, 0.0, 0, None)


def test_cr_that_is_gone_owns_nothing_any_more() -> None:
    assert used_by(Outcome(forget=True), None) == Usage(owned=0)
