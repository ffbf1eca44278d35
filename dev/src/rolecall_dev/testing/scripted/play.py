"""The scripted runner: in place of `ansible-playbook`, a function of the test performs the play.

All else is the engine's: folders, limits, recording, results, and the proxy that every request passes.
Functions run on the engine's loop, so a test and its plays can share events and variables.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rolecall.clock import Clock, SystemClock
from rolecall.json_object import Json
from rolecall.runner import (
    EngineRunner,
    FollowedRuns,
    OnWarmSupport,
    PlayTerms,
    PreparedRun,
    Reports,
    RunResult,
    RunThread,
    WarmState,
    WarmSupport,
)
from rolecall.settings import WARM_RUN_BYTES, RunnerSettings
from rolecall_dev.testing.scripted.events import Events
from rolecall_dev.testing.scripted.requests import KnownKinds, ProxySession, RequestFailed
from rolecall_dev.testing.scripted.run import PlayEnded, ScriptedRun, TaskFailed

# A script is the play of a kind, finalizer included; it may be an ordinary function.
Script = Callable[[ScriptedRun], Awaitable[None] | None]

_FAILED = 2  # the exit status of `ansible-playbook` after a failed task
_CHUNK_BYTES = 4096


class ScriptedPlay:
    """The plays of one or more engines: a script for each kind, such as `Shelf`.

    `runs` has all runs that began, in order. `bugs` has the traceback of each script that raised
    something other than the failure of a task; `EngineInProcess.stop` raises for them.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = dict(scripts)
        self.runs: list[ScriptedRun] = []
        self.bugs: list[str] = []
        self.known_kinds = KnownKinds()

    def make_runner(self, settings: RunnerSettings, on_support: OnWarmSupport) -> EngineRunner:
        """For `rolecall.app.serve`."""
        on_support(WarmSupport(WarmState.KNOWN))
        return _ScriptedRunner(settings, self)

    def runs_of(self, kind: str, name: str | None = None) -> list[ScriptedRun]:
        """Those of the runs that are of this kind, and of this CR."""
        return [
            run
            for run in self.runs
            if run.request_of_run.terms.gvk.kind == kind and name in (None, run.name)
        ]


class _ScriptedRunner(FollowedRuns):
    def __init__(self, settings: RunnerSettings, plays: ScriptedPlay) -> None:
        clock = SystemClock()
        super().__init__(settings, _Scripted(plays, clock), clock)
        self.on_way_change: Callable[[], None] = lambda: None

    def bytes_of(self, terms: PlayTerms) -> int:  # noqa: ARG002 - a port
        return WARM_RUN_BYTES

    async def warm_up(self, plays: Sequence[PlayTerms]) -> None:
        """Scripts are always ready."""


class _Scripted:
    name = "scripted"

    def __init__(self, plays: ScriptedPlay, clock: Clock) -> None:
        self._plays, self._clock = plays, clock
        self._context = contextvars.copy_context()  # by which log lines find their engine

    def why_no_plan(self) -> str:
        return ""

    @contextlib.contextmanager
    def start(
        self, prepared: PreparedRun, _: Mapping[str, str], thread: RunThread
    ) -> Iterator[_ScriptedProcess]:
        process = _ScriptedProcess(prepared, self._plays, self._clock, thread)
        thread.on_loop(process.begin, self._context)
        try:
            yield process
        finally:
            process.close()


class _ScriptedProcess:
    """A `PlayProcess`: a task of the loop that prints into a pipe, as a process would."""

    def __init__(
        self, prepared: PreparedRun, plays: ScriptedPlay, clock: Clock, thread: RunThread
    ) -> None:
        self._prepared, self._plays, self._clock = prepared, plays, clock
        self._thread = thread
        self._unread: deque[Json] = deque()  # events whose markers were printed
        self.output, self._printed = os.pipe()
        report, self._report = os.pipe()
        self.reports = (report,)
        self.has_ended = False
        self.began_s = clock.monotonic()
        self.stands, self.stood_s, self.spoke_s = False, 0.0, 0.0
        self.cpu_s: float | None = None
        self._code = -int(signal.SIGKILL)
        self._task: asyncio.Task[None] | None = None
        self._is_over = threading.Event()
        self._is_frozen = False
        self._run: ScriptedRun | None = None

    def begin(self, context: contextvars.Context) -> None:
        """On the loop."""
        self.began_s = self._clock.monotonic()
        coroutine = self._play()
        self._task = asyncio.get_running_loop().create_task(
            coroutine, name="scripted run", context=context.copy()
        )
        self._task.add_done_callback(self._end_of_task)

    def report_to(self, reports: Reports) -> None:
        def look() -> None:
            while self._unread:
                reports.report(self._unread.popleft())

        reports.look_for_reports_with(look)

    def completed(self, result: RunResult) -> RunResult:
        if self._run is None:
            return result
        terms = self._prepared.request.terms
        impure = self._run.impure if terms.notes_uses else "what it used was not recorded"
        return replace(result, impure=impure, variables=self._run.used_variables)

    def read_report(self, descriptor: int) -> bool:
        self.has_ended = True
        return bool(os.read(descriptor, _CHUNK_BYTES))

    def end(self) -> None:
        self._thread.on_loop(self._cancel)

    def freeze(self) -> None:
        self._is_frozen = True
        self._thread.on_loop(self._cancel)

    def code(self) -> int:
        return self._code

    def close(self) -> None:
        """End the task if it still runs, and wait for that."""
        if not self._is_over.is_set():
            self.end()
            self._is_over.wait()
        for descriptor in (self.output, *self.reports):
            os.close(descriptor)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _end_of_task(self, _: asyncio.Task[None]) -> None:
        os.close(self._printed)
        os.write(self._report, b"ended")
        os.close(self._report)
        self._is_over.set()

    async def _play(self) -> None:
        try:
            self._code = await self._played()
        except asyncio.CancelledError:
            pass  # as a process that a signal ended
        except Exception:  # raised again by `EngineInProcess.stop`
            self._plays.bugs.append(traceback.format_exc())

    async def _played(self) -> int:
        """The exit status."""
        request = self._prepared.request
        events = Events(self._emit, self._clock, str(self._prepared.play.path))
        session = ProxySession(request.kubeconfig, self._plays.known_kinds)
        session.is_frozen = lambda: self._is_frozen
        run = ScriptedRun(self._prepared, session, events, self._clock, self._gain_slot)
        self._run = run
        self._plays.runs.append(run)
        events.play_starts()
        try:
            await self._perform(run)
        finally:
            await session.close()
        events.play_ends()
        return _FAILED if events.has_failures else 0

    async def _perform(self, run: ScriptedRun) -> None:
        kind = self._prepared.request.terms.gvk.kind
        try:
            script = self._plays.scripts[kind]
            if inspect.isawaitable(performing := script(run)):
                await performing
        except PlayEnded:
            pass
        except (TaskFailed, RequestFailed, AssertionError) as error:
            if not run.has_failed:  # it was raised outside of a task
                await _fail(run, str(error))
        except Exception:  # a bug of the script: the run fails, and so does the test
            self._plays.bugs.append(traceback.format_exc())
            await _fail(run, traceback.format_exc(limit=-1))

    def _emit(self, report: Json, text: str) -> None:
        self._unread.append(report)
        left = memoryview(text.encode())
        while left:
            left = left[os.write(self._printed, left) :]

    async def _gain_slot(self) -> None:
        slot = self._prepared.request.slot
        if slot is None:
            return
        given: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        began_s = self._clock.monotonic()
        self.stands = True

        def go_on() -> None:
            if not given.done():
                given.set_result(None)

        slot.want(go_on)
        try:
            await given
        finally:
            self.stands = False
            self.spoke_s = self._clock.monotonic()
            self.stood_s += self.spoke_s - began_s
            self._thread.stop.look()


async def _fail(run: ScriptedRun, message: str) -> None:
    with contextlib.suppress(TaskFailed):
        async with run.task("the script") as task:
            task.fail(message)
