"""`WarmRunner`: runs a play in a child of the warm host, and where that cannot be, the stock way.

Same inputs, artifacts, events and result as the stock runner: both prepare and record through the same
code, and the child runs the same command line. The one promise to keep in mind when changing anything
here: a run is begun once. Going the stock way is allowed only while no child has begun.

Rejected: running the play in the engine (its memory and threads would be forked along), and a pool of
children that each play several runs (a play leaves too much behind).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rolecall.clock import Clock, SystemClock
from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.runner.contract import (
    OnEvent,
    OnWarmSupport,
    PlayTerms,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
    RunSlot,
)
from rolecall.runner.depth import at_usual_depth
from rolecall.runner.events import short_place
from rolecall.runner.fold import Exit
from rolecall.runner.folders import CannotStartError, remove, write_private
from rolecall.runner.follow import follow
from rolecall.runner.given_up import (
    result_of_cancelled,
    result_of_given_up,
    result_of_no_plan,
)
from rolecall.runner.inputs import PreparedRun, prepare
from rolecall.runner.limits import TimeLimits
from rolecall.runner.memory import Memory
from rolecall.runner.project_files import inputs_of
from rolecall.runner.recording import Recording
from rolecall.runner.roots import alone_with
from rolecall.runner.run_task import RunTask, RunThread, in_thread, play_in_thread
from rolecall.runner.scratch import scratch
from rolecall.runner.temporary import folder_of_command
from rolecall.runner.warm.eligibility import reason_against
from rolecall.runner.warm.hosts import HostLimits, Hosts
from rolecall.runner.warm.link import HostGoneError, HostLink
from rolecall.runner.warm.proof.prover import Prover
from rolecall.runner.warm.run_child import Order, RunChild
from rolecall.runner.warm.speed import TaskNotes, speed_of, ways_of
from rolecall.settings import WARM_RUN_BYTES, RunnerSettings, read_capacity
from rolecall_base.variables import SCRATCH_VARIABLE

_logger = logging.getLogger(__name__)


# A plan has no other way: on a busy machine its host may not be there the first time.
_ATTEMPTS_AT_A_PLAN = 4

# What a private folder belongs to: a CR, or a client that asks about one.
_Owner = tuple[Path | None, Gvk, str, str]


@dataclass(frozen=True, slots=True)
class FallBack:
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
        on_support: OnWarmSupport | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._settings = settings
        self._memory = memory or Memory(None)
        self._stock = stock
        self._clock = clock or SystemClock()
        self._runs: set[RunTask] = set()
        # Only an engine has a receiver for the report, and only an engine proves.
        self._prover = on_support and Prover(
            settings, self._clock, lambda: len(self._runs), on_support
        )
        self._hosts = hosts or Hosts(self._clock, HostLimits.within(read_capacity()), self._prover)
        self._last_in: dict[_Owner, RunTask] = {}  # of each private folder
        self._said: set[str] = set()  # reasons for the stock way that were logged already
        self._rest_timer: asyncio.TimerHandle | None = None
        # How the last run of each kind went that began: what the next one is expected to take.
        self._ways: dict[Gvk, str] = {}
        self.on_way_change: Callable[[], None] = lambda: None

    def way_of(self, gvk: Gvk) -> str:
        """The way that a run for this kind would go now: stock, until a host serves."""
        is_warm = self._hosts.serves and self._ways.get(gvk) != "stock"
        return "warm" if is_warm else "stock"

    @property
    def hosts(self) -> Hosts:
        """The hosts; for tests and benchmarks."""
        return self._hosts

    @property
    def reasons(self) -> frozenset[str]:
        """Why runs went the stock way so far."""
        return frozenset(self._said)

    async def start(self, request: RunRequest, on_event: OnEvent) -> RunHandle:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        folder = _owner_of_folder(request)
        before = self._last_in.get(folder)
        run = RunTask(lambda run: self._run_after(before, request, on_event, run))
        self._runs.add(run)
        self._last_in[folder] = run
        run.task.add_done_callback(lambda _task: self._finished(run, folder))
        return run

    async def warm_up(self, terms: PlayTerms) -> None:
        """Start the host that a run on these terms would use."""
        if self._prover:
            self._prover.on_proven = lambda: self._start_host_for(terms)
        with contextlib.suppress(RuntimeError, MemoryError):  # no thread: the first run will say so
            await in_thread(lambda: self._start_host_for(terms))

    async def close(self) -> None:
        """End what runs and the hosts; `stock` belongs to its maker."""
        runs = list(self._runs)
        for run in runs:
            run.cancel("the operator is stopping")
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        if self._prover:
            await in_thread(self._prover.close)
        await in_thread(self._hosts.close)

    def _finished(self, run: RunTask, folder: _Owner) -> None:
        self._runs.discard(run)
        if self._last_in.get(folder) is run:
            del self._last_in[folder]
        idle_s = self._settings.warm_idle_s
        if not self._runs and idle_s is not None:
            loop = asyncio.get_running_loop()
            self._rest_timer = loop.call_later(idle_s, self._hosts.rest)

    async def _run_after(
        self, before: RunTask | None, request: RunRequest, on_event: OnEvent, run: RunTask
    ) -> RunResult:
        """Let a run whose result was reported already leave the folder first."""
        if before is not None and before.is_tidying:
            await asyncio.wait([before.task])
        return await self._run(request, on_event, run)

    async def _run(self, request: RunRequest, on_event: OnEvent, run: RunTask) -> RunResult:
        held = self._memory.held(WARM_RUN_BYTES, run, goes_first=request.is_awaited)
        async with held as is_held:
            if not is_held:
                return result_of_cancelled(request.run_id, run.cancelled)
            attempts_left = 1 if request.plan_notes is None else _ATTEMPTS_AT_A_PLAN
            outcome: RunResult | FallBack = FallBack("")
            while attempts_left and isinstance(outcome, FallBack):
                attempts_left -= 1
                outcome = await self._attempt(request, on_event, run)
        if isinstance(outcome, RunResult):
            return outcome
        if request.plan_notes is not None:  # a stock run would act
            return result_of_no_plan(request.run_id, outcome.reason)
        self._note_way(request.terms.gvk, "stock")
        return await self._run_stock(request, on_event, run, outcome.reason)

    async def _attempt(
        self, request: RunRequest, on_event: OnEvent, run: RunTask
    ) -> RunResult | FallBack:
        try:
            return await play_in_thread(
                run, request, on_event, lambda thread: self._run_in_child(request, thread)
            )
        except CannotStartError as error:
            return FallBack(str(error))  # the stock way reports it in Ansible's own words

    def _note_way(self, gvk: Gvk, way: str) -> None:
        """A run began: the next one is expected to go the same way."""
        if self._ways.get(gvk) != way:
            self._ways[gvk] = way
            self.on_way_change()

    async def _run_stock(
        self, request: RunRequest, on_event: OnEvent, run: RunTask, reason: str
    ) -> RunResult:
        self._say(reason)
        handle = await self._stock.start(request, on_event)
        run.on_cancel(handle.cancel)
        run.stop_processes = handle.freeze
        return await handle.result()

    def _say(self, reason: str) -> None:
        _logger.debug("run starts ansible-playbook anew (stock)", extra=log_fields(reason=reason))
        if reason not in self._said:
            self._said.add(reason)
            _logger.info(
                "this run started ansible-playbook anew, which is slower",
                extra=log_fields(reason=reason),
            )

    def _start_host_for(self, terms: PlayTerms) -> None:
        """Blocking: start it by preparing a run that is never started.

        The first run reports what goes wrong here.
        """
        with (
            contextlib.suppress(CannotStartError, OSError),
            folder_of_command() as folder,
        ):
            settings = replace(self._settings, root=folder)
            cr = {"metadata": {"name": "warm-up"}}
            kubeconfig = folder / "kubeconfig"
            request = RunRequest("warm-up", terms, cr, False, kubeconfig, 0, 0)
            prepared = prepare(request, settings)
            try:
                if not reason_against(request, prepared):
                    self._hosts.host_for(prepared)
            finally:
                prepared.clean_up()

    def _run_in_child(self, request: RunRequest, thread: RunThread) -> RunResult | FallBack:
        """Blocking: prepare, order, follow, record."""
        began_s = self._clock.monotonic()
        with alone_with(request, self._settings):
            prepared = prepare(request, self._settings)
            host = reason_against(request, prepared) or self._hosts.host_for(prepared)
            if isinstance(host, str):
                return FallBack(host)
            with contextlib.ExitStack() as stack:
                try:
                    prepared = stack.enter_context(at_usual_depth(prepared, self._settings))
                    env = stack.enter_context(scratch(prepared, self._settings))
                    order = Order(prepared, env, self._inputs_of(prepared))
                    child = stack.enter_context(RunChild(order, host, thread.stop, self._clock))
                except OSError as error:  # a full disk, no descriptor left: nothing has begun
                    return FallBack(f"the run could not be set up: {error.strerror or error}")
                except HostGoneError as error:
                    self._hosts.drop(host)
                    return FallBack(f"the warm host was gone: {error}")
                result = self._result_if_begun(child, thread, began_s)
                return result or self._not_begun(host, request.run_id)

    def _inputs_of(self, prepared: PreparedRun) -> tuple[Path, ...]:
        """Empty unless the request asks what the run uses: to note that takes the run some time."""
        is_asked = prepared.request.terms.notes_uses
        return inputs_of(prepared.play, self._settings) if is_asked else ()

    def _result_if_begun(
        self, child: RunChild, thread: RunThread, began_s: float
    ) -> RunResult | None:
        """The result of the run; None where no child began it."""
        request = child.order.prepared.request
        try:
            note = self._note_way
            if child.wait_begun(lambda: thread.on_loop(note, request.terms.gvk, "warm")):
                return self._follow_and_record(child, thread, began_s)
        except BaseException as error:  # whatever it is, the child must not play on unseen
            child.abandon()
            with contextlib.suppress(OSError):
                remove(Path(child.order.env[SCRATCH_VARIABLE]))
            return result_of_given_up(request.run_id, error, "warm")
        return None

    def _not_begun(self, host: HostLink, run_id: str) -> FallBack:
        """Why no child began it. The host stays where it answers with a reason that can pass."""
        refusal = host.refusal_of(run_id, timeout_s=1.0)
        if refusal and host.is_alive and not host.is_stale:
            return FallBack(f"the warm host could not begin the run: {refusal}")
        self._hosts.drop(host)
        why = refusal or host.problem or "it did not take the run"
        return FallBack(f"the warm host is replaced: {why}")

    def _follow_and_record(self, child: RunChild, thread: RunThread, began_s: float) -> RunResult:
        prepared, notes = child.order.prepared, child.notes
        limits = TimeLimits.of(prepared.request, self._settings)
        with Recording(prepared, self._settings, thread.report, self._clock) as recording:
            child.on_event = recording.report
            _connect(child, prepared.request.slot, thread)
            recording.look_for_reports_with(child.take_reports)
            exit_ = replace(
                follow(child, limits, thread.stop, recording.feed, self._clock),
                started_late_s=child.began_s - began_s,
                seconds=self._clock.monotonic() - began_s,
                way="warm",
            )
            if exit_.rc is None:  # it could not tidy up
                remove(Path(child.order.env[SCRATCH_VARIABLE]))
            self._note_speed(prepared, notes, exit_)
            result = replace(
                recording.end(exit_),
                tasks_by_way=ways_of(notes),
                impure=_impure_in(notes, prepared),
                variables=frozenset(notes.variables),
            )
            thread.report_result(result)
            recording.tidy(exit_)
        return result

    def _note_speed(self, prepared: PreparedRun, notes: TaskNotes, exit_: Exit) -> None:
        if notes.crash:
            _logger.error(
                "internal error in a warm run; please report this",
                extra=log_fields(crash=notes.crash),
            )
        speed: dict[str, Any] = speed_of(notes, exit_.seconds)
        write_private(prepared.artifacts / "speed.json", json.dumps(speed))
        if ways := dict(ways_of(notes)):
            fields = log_fields(run=prepared.request.run_id, ways=ways)
            _logger.debug("how the tasks were started", extra=fields)


def _connect(child: RunChild, slot: RunSlot | None, thread: RunThread) -> None:
    if slot is not None:
        child.on_wait = lambda: thread.on_loop(slot.leave)
        child.on_want = lambda answer: thread.on_loop(slot.want, answer)


def _impure_in(notes: TaskNotes, prepared: PreparedRun) -> str:
    if not prepared.request.terms.notes_uses:
        return "what it used was not recorded"
    if notes.impure is None:
        return ""
    what, place = notes.impure
    short = short_place(place, prepared.play.path, prepared.private_dir / "project")
    return f"`{short}`: {what}" if short else what


def _owner_of_folder(request: RunRequest) -> _Owner:
    metadata = request.cr.get("metadata") or {}
    namespace, name = metadata.get("namespace") or "", metadata.get("name") or ""
    return request.folder, request.terms.gvk, str(namespace), str(name)
