"""Who is let in first where runs wait for memory."""

from __future__ import annotations

import asyncio
from functools import partial

from rolecall.runner import Ending, RunResult
from rolecall.runner.memory import Memory
from rolecall.runner.run_task import RunTask
from tests.fixtures.eventually import eventually_async

RUN_BYTES = 10


async def test_runs_that_are_awaited_go_before_those_that_wait() -> None:
    memory = Memory(RUN_BYTES)
    began: list[str] = []
    ends = {name: asyncio.Event() for name in ("running", "waiting", "asked", "asked again")}

    def start(name: str, *, goes_first: bool) -> RunTask:
        async def play(run: RunTask) -> RunResult:
            async with memory.held(RUN_BYTES, run, goes_first=goes_first) as is_held:
                assert is_held
                began.append(name)
                await ends[name].wait()
            return RunResult(name, Ending.FINISHED, 0)

        return RunTask(play)

    runs = [start(name, goes_first=name.startswith("asked")) for name in ends]

    async def is_last(name: str) -> bool:
        return began[-1:] == [name]

    for name in ("running", "asked again", "asked", "waiting"):
        await eventually_async(partial(is_last, name))
        ends[name].set()
    for run in runs:
        await run.result()
    assert began == ["running", "asked again", "asked", "waiting"]
