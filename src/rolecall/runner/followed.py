"""Runs that this process follows: prepared, started, followed and recorded, each in its own thread.

Shared by every way that starts a process for each play. The stock way starts `ansible-playbook`; the
scripted one of tests calls a function. So both have the same folders, limits, artifacts and results.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from rolecall.clock import Clock, SystemClock
from rolecall.runner.contract import Ending, OnEvent, RunRequest, RunResult
from rolecall.runner.depth import at_usual_depth
from rolecall.runner.fold import Exit
from rolecall.runner.folders import CannotStartError
from rolecall.runner.follow import Feed, RunProcess, RunStop, follow
from rolecall.runner.given_up import (
    result_of_cancelled,
    result_of_given_up,
    result_of_no_plan,
)
from rolecall.runner.inputs import PreparedRun, prepare
from rolecall.runner.limits import TimeLimits
from rolecall.runner.memory import Memory
from rolecall.runner.roots import alone_with
from rolecall.runner.run_task import RunTask, RunThread, play_in_thread
from rolecall.runner.scratch import scratch
from rolecall.settings import STOCK_RUN_BYTES, RunnerSettings


class Reports(Protocol):
    """Where a process reports the events whose markers it prints; see `Recording`."""

    def report(self, event: dict[str, Any]) -> None: ...

    def look_for_reports_with(self, look: Callable[[], object]) -> None: ...


class PlayProcess(RunProcess, Protocol):
    """A process of one play, ended when its context ends."""

    def report_to(self, reports: Reports) -> None:
        """Called once, before the process is followed."""

    def completed(self, result: RunResult) -> RunResult:
        """The result with what only the process knows of the run."""


class StartWay(Protocol):
    """How the process of a play is started."""

    @property
    def name(self) -> str:
        """As in `RunResult.way`."""

    def why_no_plan(self) -> str:
        """Why plays cannot only plan this way; empty: they can."""

    def start(
        self, prepared: PreparedRun, env: Mapping[str, str], thread: RunThread, /
    ) -> AbstractContextManager[PlayProcess]:
        """Start the process of a run; raises `CannotStartError`. Called in the run's thread."""


class FollowedRuns:
    """Runs plays one way, each as soon as there is memory for it."""

    def __init__(
        self,
        settings: RunnerSettings,
        way: StartWay,
        clock: Clock | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._settings = settings
        self._way = way
        self._clock = clock or SystemClock()
        self._memory = memory or Memory(None)
        self._runs: set[RunTask] = set()

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunTask:
        run = RunTask(lambda run: self._run(request, on_event, run))
        self._runs.add(run)
        run.task.add_done_callback(lambda _: self._runs.discard(run))
        return run

    async def close(self) -> None:
        tasks = [run.task for run in self._runs]
        for run in list(self._runs):
            run.cancel("the operator stopped")
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, request: RunRequest, on_event: OnEvent, run: RunTask) -> RunResult:
        held = self._memory.held(STOCK_RUN_BYTES, run, goes_first=request.is_awaited)
        async with held as is_held:
            if not is_held:
                return result_of_cancelled(request.run_id, run.cancelled)
            if request.plan_notes is not None and (why := self._way.why_no_plan()):
                return result_of_no_plan(request.run_id, why)
            asked_s = self._clock.monotonic()
            try:
                return await play_in_thread(
                    run, request, on_event, lambda thread: self._play(request, thread, asked_s)
                )
            except CannotStartError as error:
                why = error.message
                return RunResult(request.run_id, Ending.NOT_STARTED, None, reason_text=why)

    def _play(self, request: RunRequest, thread: RunThread, asked_s: float) -> RunResult:
        """The whole of one run; raises only for a bug before it began."""
        with alone_with(request, self._settings):
            prepared = prepare(request, self._settings)
            try:
                with at_usual_depth(prepared, self._settings) as seen:
                    return self._follow_and_record(seen, thread, asked_s)
            except BaseException as error:  # its process is gone, whatever happened
                return result_of_given_up(request.run_id, error, self._way.name)
            finally:
                with contextlib.suppress(OSError):
                    prepared.clean_up()

    def _follow_and_record(
        self, prepared: PreparedRun, thread: RunThread, asked_s: float
    ) -> RunResult:
        from rolecall.runner.recording import Recording  # noqa: PLC0415 - 0.1 s, at the first run

        with Recording(prepared, self._settings, thread.report, self._clock) as recording:
            try:
                with (
                    scratch(prepared, self._settings) as env,
                    self._way.start(prepared, env, thread) as process,
                ):
                    process.report_to(recording)
                    exit_ = self._followed(prepared, process, recording.feed, thread.stop)
                    exit_ = replace(exit_, started_late_s=process.began_s - asked_s)
            except CannotStartError as error:
                why = Exit(None, ended_as=Ending.NOT_STARTED, reason=error.message)
                return recording.finish(why)
            return process.completed(recording.finish(exit_))

    def _followed(
        self, prepared: PreparedRun, process: PlayProcess, feed: Feed, stop: RunStop
    ) -> Exit:
        began_s = self._clock.monotonic()
        limits = TimeLimits.of(prepared.request, self._settings)
        exit_ = follow(process, limits, stop, feed, self._clock)
        return replace(exit_, seconds=self._clock.monotonic() - began_s, way=self._way.name)
