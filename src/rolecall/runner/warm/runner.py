"""`WarmRunner`: runs a play in a child of the warm host, and where that cannot be, the stock way.

Same inputs, artifacts, events and result as the stock runner: both prepare and record through the same
code, and the child runs the same command line. The one promise to keep in mind when changing anything
here: a run is begun once. Going the stock way is allowed only while no child has begun.

Rejected: running the play in the engine (its memory and threads would be forked along), and a pool of
children that wait for work (a play leaves too much behind to run another in the same process).
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rolecall.clock import Clock, SystemClock
from rolecall.runner.contract import (
    Ending,
    OnEvent,
    RunEvent,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
)
from rolecall.runner.fold import Exit
from rolecall.runner.folders import CannotStartError, remove, write_private
from rolecall.runner.inputs import PreparedRun, prepare
from rolecall.runner.limits import Limits
from rolecall.runner.recording import Recording
from rolecall.runner.scratch import scratch
from rolecall.runner.temporary import SCRATCH_VARIABLE
from rolecall.runner.warm.eligibility import reason_against
from rolecall.runner.warm.follow import Follower, Notes, Order, RunLine
from rolecall.runner.warm.hosts import Hosts
from rolecall.runner.warm.link import HostGoneError, HostLink
from rolecall.runner.warm.speed import speed_of, ways_of
from rolecall.settings import RunnerSettings
from rolecall.watches import Watch

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True, slots=True)
class _GoStock:
    """The run did not begin here, for this reason."""

    reason: str


class WarmRunner:
    """Runs plays warm where it can, through `stock` where it cannot."""

    def __init__(
        self,
        settings: RunnerSettings,
        stock: Runner,
        clock: Clock | None = None,
        hosts: Hosts | None = None,
    ) -> None:
        self._settings = settings
        self._stock = stock
        self._clock = clock or SystemClock()
        self._hosts = hosts or Hosts(self._clock)
        self._runs: set[_WarmRun] = set()
        self._said: set[str] = set()  # reasons for the stock way that were logged already
        self._rest_timer: asyncio.TimerHandle | None = None

    @property
    def hosts(self) -> Hosts:
        """The hosts behind; for tests and for whoever measures them."""
        return self._hosts

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        """Start a run. A run that cannot start still yields a handle, whose result says why."""
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        run = _WarmRun(self, request, on_event)
        self._runs.add(run)
        run.task.add_done_callback(lambda _task: self._finished(run))
        return run

    async def warm_up(self, watch: Watch) -> None:
        """Start the host that runs of this watch will want, so that the first need not wait for it."""
        await _in_thread(lambda: self._warm_up(watch))

    async def close(self) -> None:
        """End what runs and the hosts; `stock` belongs to whoever made it."""
        runs = list(self._runs)
        for run in runs:
            run.cancel("the engine is ending")
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        await _in_thread(self._hosts.close)

    def _finished(self, run: _WarmRun) -> None:
        self._runs.discard(run)
        idle_s = self._settings.warm_idle_s
        if not self._runs and idle_s is not None:
            loop = asyncio.get_running_loop()
            self._rest_timer = loop.call_later(idle_s, self._hosts.rest)

    async def run(self, request: RunRequest, on_event: OnEvent, run: _WarmRun) -> RunResult:
        """One run from start to end; the handle's task."""
        line = RunLine()
        run.on_cancel(lambda reason: line.end(Ending.CANCELLED, reason))
        loop = asyncio.get_running_loop()

        def on_loop(event: RunEvent) -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed over a run in flight
                loop.call_soon_threadsafe(on_event, event)

        try:
            outcome = await _in_thread(lambda: self._run_warm(request, on_loop, line))
        finally:
            run.on_cancel(None)
            line.close()
        if isinstance(outcome, RunResult):
            return outcome
        self._say(outcome.reason)
        handle = await self._stock.start(request, on_event)
        run.on_cancel(handle.cancel)
        return await handle.result()

    def _say(self, reason: str) -> None:
        _LOG.debug("run goes the stock way", extra={"reason": reason})
        if reason not in self._said:
            self._said.add(reason)
            _LOG.info("not warm, so plays start more slowly", extra={"reason": reason})

    def _warm_up(self, watch: Watch) -> None:
        """Blocking: prepare a run that is never made; what is wrong with it, the first run will say."""
        with (
            contextlib.suppress(CannotStartError, OSError),
            tempfile.TemporaryDirectory(prefix="rolecall-") as folder,
        ):
            settings = dataclasses.replace(self._settings, root=Path(folder))
            cr = {"metadata": {"name": "nobody"}}
            kubeconfig = Path(folder) / "kubeconfig"
            request = RunRequest("warm-up", watch, cr, False, kubeconfig, 0, 0)
            prepared = prepare(request, settings)
            try:
                if not reason_against(request, prepared):
                    self._hosts.host_for(prepared)
            finally:
                prepared.clean_up()

    def _run_warm(
        self, request: RunRequest, on_event: OnEvent, line: RunLine
    ) -> RunResult | _GoStock:
        """Blocking: prepare, order, follow, record. In a thread of its own."""
        began = self._clock.monotonic()
        try:
            prepared = prepare(request, self._settings)
        except CannotStartError as error:
            return _GoStock(str(error))  # the stock way says it as everybody knows it
        reason = reason_against(request, prepared)
        host = reason or self._hosts.host_for(prepared)
        if isinstance(host, str):
            return _GoStock(host)
        has_own_inventory = self._settings.inventory is not None
        with contextlib.ExitStack() as stack:
            try:
                env = stack.enter_context(scratch(prepared, has_own_inventory=has_own_inventory))
                follower = Follower(Order(prepared, env), host, line, self._clock)
            except OSError as error:  # a full disk, no descriptor left: nothing has begun
                return _GoStock(f"the run could not be set up: {error.strerror or error}")
            except HostGoneError as error:
                self._hosts.drop(host)
                return _GoStock(f"the warm host was gone: {error}")
            return self._follow(follower, host, on_event, began)

    def _follow(
        self, follower: Follower, host: HostLink, on_event: OnEvent, began: float
    ) -> RunResult | _GoStock:
        prepared = follower.order.prepared
        try:
            if follower.wait_begun():
                return self._record(follower, on_event, began)
        except OSError as error:
            follower.abandon()
            reason = f"what the play said could not be recorded: {error.strerror or error}"
            return RunResult(
                prepared.request.run_id, Ending.NO_RECAP, None, reason_text=reason, way="warm"
            )
        finally:
            follower.close()
        changed = host.refusal_of(prepared.request.run_id, timeout_s=1.0)
        self._hosts.drop(host)
        why = f"`{changed}` changed" if changed else host.problem or "it took no order"
        return _GoStock(f"the warm host is replaced: {why}")

    def _record(self, follower: Follower, on_event: OnEvent, began: float) -> RunResult:
        prepared = follower.order.prepared
        limits = Limits.of(prepared.request, self._settings)
        with Recording(prepared, self._settings, on_event, self._clock) as recording:
            exit_ = follower.follow(limits, recording.feed, began)
            if exit_.rc is None:  # it could not tidy up
                remove(Path(follower.order.env[SCRATCH_VARIABLE]))
            self._note_speed(prepared, follower.notes, exit_)
            result = recording.finish(exit_)
        return dataclasses.replace(result, tasks_by_way=ways_of(follower.notes))

    def _note_speed(self, prepared: PreparedRun, notes: Notes, exit_: Exit) -> None:
        if notes.crash:
            _LOG.error(
                "internal error in a warm run; please report this", extra={"crash": notes.crash}
            )
        speed: dict[str, Any] = speed_of(notes, exit_.seconds)
        write_private(prepared.artifacts / "speed.json", json.dumps(speed))
        _LOG.debug(
            "tasks by way",
            extra={"run": prepared.request.run_id, "ways": dict(Counter(ways_of(notes)))},
        )


class _WarmRun:
    """The handle of one run, whichever way it takes in the end."""

    def __init__(self, runner: WarmRunner, request: RunRequest, on_event: OnEvent) -> None:
        self._cancel: Callable[[str], None] | None = None
        self._cancelled: str | None = None
        self.task = asyncio.create_task(runner.run(request, on_event, self))

    def on_cancel(self, act: Callable[[str], None] | None) -> None:
        """What ends the run from now on; a cancel that came before is not forgotten."""
        self._cancel = act
        if act is not None and self._cancelled is not None:
            act(self._cancelled)

    async def result(self) -> RunResult:
        """Wait for the end; cancelling this wait cancels the run and all its processes."""
        try:
            return await asyncio.shield(self.task)
        except asyncio.CancelledError:
            self.cancel("nobody waits for it any more")
            await asyncio.wait([self.task])
            raise

    def cancel(self, reason: str) -> None:
        """End the run and all its processes; `result` then says CANCELLED."""
        if self._cancelled is None:
            self._cancelled = reason
            if self._cancel is not None:
                self._cancel(reason)


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Run blocking work in a thread of its own: runs last long, and a pool would queue them."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def body() -> None:
        try:
            result = work()
        except BaseException as error:  # carried to whoever awaits
            loop.call_soon_threadsafe(settle, future.set_exception, error)
        else:
            loop.call_soon_threadsafe(settle, future.set_result, result)

    threading.Thread(target=body, name="warm-run", daemon=True).start()
    return await asyncio.shield(future)
