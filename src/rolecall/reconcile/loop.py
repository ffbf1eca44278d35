"""The steps of one turn: a key goes in, an `Outcome` comes out.

    only dependents ask, and a run has just ended: let them wait
    take the CR as its event brought it, or read it; gone: forget it
    paused: say so, run nothing
    a task that does not settle: let dependents wait
    read its period; an extension may do something else instead of all that follows
    hold it by our finalizer; deleted and not ours to clean: leave it
    nothing that its last run depended on changed: run nothing
    mark it running
    run the play
    do what follows from what it read and wrote
    let it go, if that was its finalizer run and it succeeded
    write what became of it, once
    choose the next time

Level-based: nothing is remembered that the object could show, and every turn may be the first after a
restart. Whatever the API server says meanwhile has one answer: come back, read again, decide again. In
particular a CR that vanished or was replaced half-way is not judged here; the next turn sees what is.

Marking it running and starting the run go one after the other: at the same time would save some
milliseconds, and give plays a CR that never existed.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from rolecall.documents import DurationError
from rolecall.errors import NotLeadingError, RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import NoSuchKindError, NotFoundError
from rolecall.reconcile.active_runs import ActiveRun, ActiveRuns, DueRun
from rolecall.reconcile.annotations import (
    is_deleted,
    is_paused,
    period_of,
    with_spec,
)
from rolecall.reconcile.come_back import again_now, next_time, periodic, put_off
from rolecall.reconcile.convergence import Convergence
from rolecall.reconcile.cr_events import CrEvents
from rolecall.reconcile.finalizers import Finalizers, is_finalizer_run
from rolecall.reconcile.following import RunFindings
from rolecall.reconcile.in_flight import InFlightReports
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.ports import EndedRun, Outcome, ReconcilerPorts, RunDefaults, TurnView
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.recent_runs import RecentRuns
from rolecall.reconcile.reporter import Reporter, RunReport
from rolecall.reconcile.stopped_runs import StoppedRuns
from rolecall.reconcile.taken_turn import ActiveTurn
from rolecall.reconcile.verdict import UNABLE, failure_fields, verdict_of
from rolecall.runner import Ending, RunResult, outcome_of
from rolecall.status import (
    ObjectWriter,
    StatusWriter,
    VanishedError,
    conditions_of,
    generation_of,
)
from rolecall.watches import Watch
from rolecall.workqueue import DELETION, PAUSING, Cause, Key, Turn, Urgency

# How soon a key comes back whose turn ended because this replica is not the leader now.
NOT_LEADING_S = 1.0
T = TypeVar("T")

_logger = logging.getLogger(__name__)


def random_run_id() -> str:
    """A random number of 63 bits: what names a run's artifacts in the Go operator too."""
    return str(secrets.randbits(63))


class Reconciler:
    """Takes turns; one instance serves all keys and all workers."""

    def __init__(
        self,
        watches: Mapping[Gvk, Watch],
        ports: ReconcilerPorts,
        defaults: RunDefaults | None = None,
        new_run_id: Callable[[], str] = random_run_id,
    ) -> None:
        self._watches = watches
        self._ports = ports
        self._new_run_id = new_run_id
        self._objects = objects = ObjectWriter(ports.cluster, ports.clock, ports.on_written)
        self._finalizers = Finalizers(objects)
        self._reporter = Reporter(
            StatusWriter(objects, ports.clock), objects, CrEvents(ports.events)
        )
        self._in_flight = InFlightReports(self._reporter, ports.clock)
        self._convergence = Convergence()
        self._recent_runs = RecentRuns(ports.clock)
        self._stopped_runs = StoppedRuns()
        self._dependents_delay_s = (defaults or RunDefaults()).dependents_delay_s
        self._active_runs = ActiveRuns(ports, defaults or RunDefaults())

    async def reconcile(self, turn: Turn) -> Outcome:
        """One turn of one key, which no other turn has in hand."""
        with self._active_runs.hold(turn) as active:
            try:
                outcome = await self._outcome(turn, active)
            finally:
                self._ports.brought(turn.key)  # an edit's object, and we wrote since
            return replace(outcome, ran=active.ran, result=active.result, trail=active.trail)

    async def print_output(self, key: Key, outcome: Outcome) -> None:
        """Print what the run of a turn printed last; after the line about its end."""
        if outcome.result is not None:
            await self._ports.plays.recap(key, outcome.result)

    def in_flight(self) -> Mapping[Key, Progress]:
        """How far each run has come, now."""
        return self._active_runs.in_flight()

    def findings_in_flight(self, kind: type[T]) -> Mapping[Key, T]:
        """What extensions publish of each run in flight."""
        return self._active_runs.findings(kind)

    def on_edited(self, key: Key) -> None:
        """The CR was edited or deleted; call it along with adding the key to the queue."""
        self._active_runs.on_edited(key)

    def cancel_runs(self, reason: str) -> None:
        """End all runs, and let none start any more."""
        self._active_runs.cancel_all(reason)

    def interrupt_runs(self, reason: str) -> None:
        """End the runs in flight, because this replica may not write now; it may again later."""
        self._active_runs.interrupt(reason)

    def stop_run(self, key: Key, by: str) -> None:
        """A person asks for the end of a run that hangs; only something new begins the next one."""
        self._active_runs.stop(key, by)

    def end_runs_of(self, is_meant: Callable[[Key], bool], reason: str) -> None:
        """End the runs in flight of keys that are handed over, and report it in status."""
        self._active_runs.cancel_of(is_meant, reason)

    def lose_runs_of(self, is_lost: Callable[[Key], bool], reason: str) -> int:
        """Stop the runs of keys that are another's from now on, and end them, without a report.

        Returns how many.
        """
        return self._active_runs.lose(is_lost, reason)

    def forget_of(self, is_lost: Callable[[Key], bool]) -> None:
        """Keys are another replica's: what is remembered of them will be wrong when they come back."""
        self._convergence.forget_of(is_lost)
        self._stopped_runs.forget_of(is_lost)
        self._reporter.forget_of(is_lost)

    async def report_bug(self, key: Key) -> None:
        """Report in status that a bug of ours stopped the turn; never raises."""
        message = f"{UNABLE}: internal error, see the log of the operator"
        try:
            cr = await self._load(key)
            if cr is not None:
                await self._refuse(key, self._watches[key.gvk], cr, message)
        except RolecallError as error:
            _logger.error(
                "could not write an internal error to status",
                extra=key_fields(key, error=str(error)),
            )
        except Exception:  # most likely the same bug once more: its traceback is in the log already
            _logger.error(
                "could not write an internal error to status", extra=key_fields(key), exc_info=True
            )

    async def _outcome(self, turn: Turn, active: ActiveRun) -> Outcome:
        try:
            self._check_leading("start a reconcile")
            return await self._turn(turn, active)
        except VanishedError:
            return again_now(turn.cause)
        except NotLeadingError as error:  # no failure: the next leader takes the turn
            return put_off(turn, NOT_LEADING_S, error.message)
        except NoSuchKindError as error:
            return Outcome(error=str(error), is_of_kind=error.gvk == turn.key.gvk)
        except RolecallError as error:
            return Outcome(error=str(error))

    async def _turn(self, turn: Turn, active: ActiveRun) -> Outcome:
        key, watch = turn.key, self._watches[turn.key.gvk]
        if turn.urgency is Urgency.DEPENDENT and (wait_s := self._recent_runs.wait_s(key)):
            return put_off(turn, wait_s, "a run has just ended")
        cr = self._brought(key, watch)
        active.is_brought = cr is not None
        if cr is None:
            cr = await self._load(key)
        if cr is None:
            return self._forget(key)
        self._report_conditions(key, cr)
        if why := self._stopped_runs.why_no_run(turn):
            return replace(periodic(watch.reconcile_period_s), why=why)
        if is_paused(cr):
            await self._reporter.paused(key, watch, cr)
            return replace(periodic(watch.reconcile_period_s), why="paused")
        if turn.urgency is Urgency.DEPENDENT and (wait_s := self._unsettled_s(key, cr)):
            return put_off(turn, wait_s, "a task of the role changes something in every run")
        return await self._reconcile_present(turn, watch, active, cr)

    async def _reconcile_present(
        self, turn: Turn, watch: Watch, active: ActiveRun, cr: Json
    ) -> Outcome:
        key = active.key
        try:
            period_s = period_of(cr, watch)
        except DurationError as error:
            text = f"Unable to parse reconcile period annotation: {error}"
            return await self._refuse(key, watch, cr, text)
        view = TurnView(turn, watch, cr, period_s)
        taken = ActiveTurn(active, view, self._reporter, self._ports.telemetry)
        if (outcome := await self._ports.hooks.instead_of_run(view, taken)) is not None:
            return outcome
        with self._reporter.reporting_webhook_down(cr):
            with_finalizer = await self._finalizers.ensure(watch, cr)
        if is_deleted(with_finalizer) and not is_finalizer_run(watch, with_finalizer):
            _logger.info("Resource is terminated, skipping reconciliation", extra=key_fields(key))
            return Outcome(
                why="the object is being deleted, and only finalizers of others are left"
            )
        if why := await self._why_no_run(replace(view, cr=with_finalizer)):
            return replace(periodic(period_s), why=why)
        due = await self._mark_running(active, watch, cr, with_finalizer)
        if (news := _news_of(due)) is not None:
            why, cause = news
            await self._reporter.cancelled(due, due.cr, why)
            return again_now(cause)
        self._phase(key, "prepare", active.began)
        result = await self._run(active, due)
        return await self._conclude(active, due, result, period_s)

    async def _why_no_run(self, view: TurnView) -> str:
        return "" if is_deleted(view.cr) else await self._ports.hooks.why_no_run(view)

    def _brought(self, key: Key, watch: Watch) -> Json | None:
        """The CR as its event brought it, where the turn begins with a write that checks it.

        `Running` names the version that it was computed from, so an object that grew old on the way
        is found out before anything follows from it. Other turns read.
        """
        cr = self._ports.brought(key)
        if cr is None or not watch.manage_status or is_deleted(cr) or is_paused(cr):
            return None
        return cr

    async def _load(self, key: Key) -> Json | None:
        try:
            return await self._ports.cluster.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            return None

    def _forget(self, key: Key) -> Outcome:
        self._convergence.forget(key)
        self._stopped_runs.forget(key)
        self._reporter.forget(key)
        return Outcome(forget=True, why="the object is gone")

    def _unsettled_s(self, key: Key, cr: Json) -> float:
        return self._convergence.wait_s(key, cr, self._ports.clock.monotonic())

    async def _refuse(self, key: Key, watch: Watch, cr: Json, message: str) -> Outcome:
        self._ports.telemetry.run_finished(watch.gvk, succeeded=False, seconds=0.0, way="none")
        self._report_conditions(key, await self._reporter.refused(key, watch, cr, message))
        return Outcome(error=message)

    async def _mark_running(
        self, active: ActiveRun, watch: Watch, before: Json, with_finalizer: Json
    ) -> DueRun:
        """Write `Running`; returns what to run."""
        running = await self._reporter.running(active.key, watch, with_finalizer)
        if active.is_brought and running is before:  # it says so already, and nothing was checked
            running = await self._objects.read_again(watch.gvk, before)
        seen = running if watch.manage_status else with_spec(running)
        # Asked of what the play sees: the deletion may have come with the latest read.
        is_finalizer = is_finalizer_run(watch, seen)
        return DueRun(self._new_run_id(), watch, seen, before, is_finalizer, active.cause)

    async def _run(self, active: ActiveRun, due: DueRun) -> RunResult:
        began = self._ports.clock.monotonic()
        self._stopped_runs.forget(active.key)
        fields = {"generation": generation_of(due.cr), "run": due.run_id}
        _logger.info("run started", extra=key_fields(active.key, **fields, cause=due.cause.text))
        async with self._in_flight.reporting(active, due):
            result = await self._active_runs.run(active, due)
        active.leave_trail(due, began, self._ports.clock.monotonic(), result)
        asked_s = due.watch.dependents_delay_s
        self._recent_runs.ended(
            active.key, self._dependents_delay_s if asked_s is None else asked_s
        )
        # What the play wrote meanwhile was refused, so its result says nothing about the CR.
        self._check_leading("report a run")
        self._phase(active.key, "run", began)
        seconds = round(result.seconds, 3)
        active.result = result
        active.ran = {
            **failure_fields(result, due.cause.text),
            **({"finalizer": True} if due.is_finalizer else {}),
            **fields,
            "outcome": outcome_of(result),
            "way": result.way,
            "seconds": seconds,
            **({"why": why} if (why := _why_cancelled(active, result)) else {}),
        }
        return result

    async def _conclude(
        self, active: ActiveRun, due: DueRun, result: RunResult, period_s: float
    ) -> Outcome:
        began, key = self._ports.clock.monotonic(), active.key
        if result.ending is Ending.CANCELLED:
            why = _why_cancelled(active, result)
            await self._reporter.cancelled(due, active.newest or due.cr, why)
            return self._stopped(key, period_s) if active.is_stopped else again_now(active.cause)
        self._count(due.watch, result)
        findings, is_finalizer = RunFindings(active.followed), due.is_finalizer
        ended = EndedRun(key, due.watch, due.cr, due.before, is_finalizer, result, findings)
        await self._ports.hooks.run_ended(ended)
        report = RunReport(due, result, verdict_of(result), self._observe(key, due, result))
        cr = active.newest or due.cr
        if due.is_finalizer and result.succeeded:
            with self._reporter.reporting_webhook_down(cr):
                left = await self._finalizers.release(due.watch, cr)
            if left is None:
                return again_now(DELETION)
            cr = left
        edits = self._ports.hooks.condition_edits(ended)
        cr = await self._reporter.ended(key, report, cr, edits)
        self._report_conditions(key, cr)
        self._phase(key, "status", began)
        return next_time(report, cr, period_s)

    def _stopped(self, key: Key, period_s: float) -> Outcome:
        """What the run left half done is not known, so the next one is not skipped."""
        self._stopped_runs.add(key)
        self._ports.hooks.run_again(key)
        return periodic(period_s)

    def _check_leading(self, what: str) -> None:
        if not self._ports.may_run():
            raise NotLeadingError(what)

    def _observe(self, key: Key, due: DueRun, result: RunResult) -> str | None:
        if due.is_finalizer or not result.succeeded:
            return None
        now = self._ports.clock.monotonic()
        # A role that reports how far it got changes its status on every run, and works all the same.
        changed = [task for task in result.changed_tasks if task not in result.report_tasks]
        return self._convergence.observe(key, due.cr, changed, now)

    def _count(self, watch: Watch, result: RunResult) -> None:
        self._ports.telemetry.run_finished(
            watch.gvk, succeeded=result.succeeded, seconds=result.seconds, way=result.way
        )
        for way, count in result.tasks_by_way.items():
            self._ports.telemetry.tasks_ran(way, count)

    def _report_conditions(self, key: Key, cr: Json) -> None:
        self._ports.telemetry.conditions(key, conditions_of(cr))

    def _phase(self, key: Key, phase: str, began: float) -> None:
        self._ports.telemetry.phase(key.gvk, phase, self._ports.clock.monotonic() - began)


def _why_cancelled(active: ActiveRun, result: RunResult) -> str:
    """Empty for a run that came to its end."""
    if result.ending is not Ending.CANCELLED:
        return ""
    return active.cancelled or result.reason_text


def _news_of(due: DueRun) -> tuple[str, Cause] | None:
    """What the CR says since it was marked running, and did not when that was decided."""
    if is_deleted(due.cr) and not due.is_finalizer:
        return "the object is being deleted", DELETION
    if is_paused(due.cr):
        return "reconciling was paused", PAUSING
    return None
