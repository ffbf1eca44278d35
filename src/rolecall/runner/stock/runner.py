"""The stock way: `ansible-playbook` is started anew for each run, as ansible-runner does it.

Always available, and the reference for what a run is. One thread per run prepares it, reads its output
and writes its artifacts, so that neither a slow disk nor an event of a megabyte holds up the loop; all
that reaches the engine's rooms comes on the loop's own thread, events first, the result last.

Rejected: the loop's shared thread pool (a handful of long runs would fill it, and the next ones would
look hung), and asyncio's own subprocesses (they would read on the loop).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

from rolecall.clock import Clock, SystemClock
from rolecall.runner.contract import Ending, OnEvent, RunEvent, RunRequest, RunResult
from rolecall.runner.folders import CannotStartError
from rolecall.runner.inputs import PreparedRun, prepare
from rolecall.runner.limits import Limits
from rolecall.runner.scratch import scratch
from rolecall.runner.stock.process import SupervisedProcess
from rolecall.settings import RunnerSettings


class StockRun:
    """A run in flight, in a thread of its own."""

    def __init__(self, process: SupervisedProcess, ended: asyncio.Future[RunResult]) -> None:
        self._process = process
        self._ended = ended

    async def result(self) -> RunResult:
        """Wait for the end; cancelling this wait cancels the run and its whole process group."""
        try:
            return await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            self.cancel("the engine did not wait for it any longer")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(self._ended)
            raise

    def cancel(self, reason: str) -> None:
        """End the run's whole process group; `result` then says CANCELLED."""
        self._process.end(Ending.CANCELLED, reason)


class StockRunner:
    """Runs plays the stock way."""

    def __init__(self, settings: RunnerSettings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._runs: dict[StockRun, asyncio.Future[RunResult]] = {}

    async def start(self, request: RunRequest, on_event: OnEvent) -> StockRun:
        """Start a run. A run that cannot start still yields a handle, whose result says why."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[RunResult] = loop.create_future()
        process = SupervisedProcess(self._clock)
        run = StockRun(process, ended)
        self._runs[run] = ended
        ended.add_done_callback(lambda _: self._runs.pop(run, None))

        def on_loop(take: Callable[[Any], None], value: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed over a run in flight
                loop.call_soon_threadsafe(take, value)

        def end(result: RunResult | BaseException) -> None:
            if ended.done():
                return
            if isinstance(result, BaseException):
                ended.set_exception(result)
            else:
                ended.set_result(result)

        def work() -> None:
            try:
                result = self._run(request, process, lambda event: on_loop(on_event, event))
            except BaseException as bug:  # told to whoever waits for the result
                on_loop(end, bug)
            else:
                on_loop(end, result)

        threading.Thread(target=work, name=f"run {request.run_id}", daemon=True).start()
        return run

    async def close(self) -> None:
        """End what runs and wait until all of it is gone."""
        ends = list(self._runs.values())
        for run in list(self._runs):
            run.cancel("the engine stopped")
        if ends:
            await asyncio.wait(ends)

    def _run(
        self,
        request: RunRequest,
        process: SupervisedProcess,
        on_event: Callable[[RunEvent], None],
    ) -> RunResult:
        """The whole of one run, in its own thread; raises only for a bug of ours."""
        try:
            prepared = prepare(request, self._settings)
        except CannotStartError as error:
            return RunResult(request.run_id, Ending.NOT_STARTED, None, reason_text=error.message)
        try:
            return self._recorded(prepared, process, on_event)
        except OSError as error:
            reason = f"what the play said could not be recorded: {error.strerror or error}"
            return RunResult(request.run_id, Ending.NO_RECAP, None, reason_text=reason)
        finally:
            prepared.clean_up()

    def _recorded(
        self,
        prepared: PreparedRun,
        process: SupervisedProcess,
        on_event: Callable[[RunEvent], None],
    ) -> RunResult:
        from rolecall.runner.recording import Recording  # noqa: PLC0415 - 0.1 s, at the first run

        limits = Limits.of(prepared.request, self._settings)
        has_own_inventory = self._settings.inventory is not None
        with Recording(prepared, self._settings, on_event, self._clock) as recording:
            with scratch(prepared, has_own_inventory=has_own_inventory) as env:
                exit_ = process.follow(prepared.command, env, prepared.cwd, limits, recording.feed)
            return recording.finish(exit_)
