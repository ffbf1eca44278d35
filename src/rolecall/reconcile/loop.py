"""The story of one turn: a key goes in, an `Outcome` comes out.

    load the CR; gone: forget it
    paused: say so, run nothing
    a task that does not settle: let dependents wait
    read its period; hold it by our finalizer; deleted and not ours to clean: leave it
    mark it running
    run the play
    let it go, if that was its finalizer run and it succeeded
    write what became of it, once
    choose the next time

Level-based: nothing is remembered that the object could tell, and every turn may be the first after a
restart. Whatever the API server says meanwhile has one answer: come back, read again, decide again. In
particular a CR that vanished or was replaced half-way is not judged here; the next turn sees what is.

Marking it running and starting the run go one after the other: at the same time would save some
milliseconds, and give plays a CR that never existed.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rolecall.errors import NotLeadingError, RolecallError
from rolecall.gvk import Gvk
from rolecall.kube import NotFoundError
from rolecall.reconcile.announce import Announcer
from rolecall.reconcile.convergence import Convergence
from rolecall.reconcile.finalizers import Finalizers, is_finalizer_run
from rolecall.reconcile.flights import Flight, Flights, Plan
from rolecall.reconcile.log_fields import about
from rolecall.reconcile.ports import Outcome, RunDefaults, World
from rolecall.reconcile.requests import is_deleted, is_paused, period_of, with_spec
from rolecall.reconcile.telling import End, Teller
from rolecall.reconcile.verdict import UNABLE, verdict_of
from rolecall.runner import Ending, RunResult
from rolecall.status import ConflictSafe, StatusWriter, VanishedError, generation_of
from rolecall.watches import DurationError, Watch
from rolecall.workqueue import Key, Turn, Urgency

Json = dict[str, Any]

# How soon a CR is looked at again whose deletion came while its run was in flight.
AFTER_DELETION_S = 5.0
# How soon a key comes back whose turn ended because this replica may not lead now.
NOT_LEADING_S = 1.0
LOOK_AGAIN = Outcome(after_s=0.0, urgency=Urgency.EDIT)

log = logging.getLogger(__name__)


def random_run_id() -> str:
    """A random number of 63 bits: what names a run's artifacts in the Go operator too."""
    return str(secrets.randbits(63))


class Reconciler:
    """Takes turns; one instance serves all keys and all workers."""

    def __init__(
        self,
        watches: Mapping[Gvk, Watch],
        world: World,
        defaults: RunDefaults | None = None,
        new_run_id: Callable[[], str] = random_run_id,
    ) -> None:
        self._watches = watches
        self._world = world
        self._new_run_id = new_run_id
        objects = ConflictSafe(world.cluster, world.clock, world.on_written)
        self._finalizers = Finalizers(objects)
        self._teller = Teller(StatusWriter(objects, world.clock), objects, Announcer(world.events))
        self._convergence = Convergence()
        self._flights = Flights(world, defaults or RunDefaults())

    async def reconcile(self, turn: Turn) -> Outcome:
        """One turn of one key, which nobody else has in hand."""
        watch = self._watches[turn.key.gvk]
        with self._flights.aboard(turn.key) as flight:
            try:
                self._check_leading("take a turn")
                return flight.with_run(await self._turn(watch, turn, flight))
            except VanishedError:
                return flight.with_run(LOOK_AGAIN)
            except NotLeadingError as error:
                # Nobody's failure: whoever leads next, perhaps we again, takes the turn.
                log.debug("turn put back", extra=about(turn.key, why=error.message))
                return flight.with_run(Outcome(after_s=NOT_LEADING_S, urgency=turn.urgency))
            except RolecallError as error:
                return flight.with_run(Outcome(error=str(error)))

    def notice(self, key: Key) -> None:
        """The CR was edited or deleted; call it along with adding the key to the queue."""
        self._flights.notice(key)

    def cancel_runs(self, reason: str) -> None:
        """End all runs, and let none start any more."""
        self._flights.cancel_all(reason)

    def interrupt_runs(self, reason: str) -> None:
        """End the runs in flight, because this replica may not write now; it may again later."""
        self._flights.interrupt(reason)

    async def confess(self, key: Key) -> None:
        """Tell the CR's owner that a bug of ours stopped its turn."""
        message = f"{UNABLE}: internal error, the log of the operator has the details"
        try:
            cr = await self._load(key)
            if cr is not None:
                await self._refuse(key, self._watches[key.gvk], cr, message)
        except RolecallError as error:
            log.error("bug could not be told in status", extra={"fields": {"error": str(error)}})

    async def _turn(self, watch: Watch, turn: Turn, flight: Flight) -> Outcome:
        key = turn.key
        cr = await self._load(key)
        if cr is None:
            return self._forget(key)
        if is_paused(cr):
            await self._teller.paused(key, watch, cr)
            return _periodic(watch.reconcile_period_s)
        if turn.urgency is Urgency.DEPENDENT and (wait_s := self._restless_s(key, cr)):
            return Outcome(after_s=wait_s, urgency=Urgency.DEPENDENT)
        return await self._go_on(watch, flight, cr)

    async def _go_on(self, watch: Watch, flight: Flight, cr: Json) -> Outcome:
        key = flight.key
        try:
            period_s = period_of(cr, watch)
        except DurationError as error:
            text = f"Unable to parse reconcile period annotation: {error}"
            return await self._refuse(key, watch, cr, text)
        held = await self._finalizers.ensure(watch, cr)
        if is_deleted(held) and not is_finalizer_run(watch, held):
            log.info("Resource is terminated, skipping reconciliation", extra=about(key))
            return Outcome()
        plan = await self._plan(key, watch, cr, held)
        if is_deleted(plan.cr) and not plan.is_finalizer:
            await self._teller.cancelled(plan, "the object is being deleted")
            return LOOK_AGAIN
        self._phase(key, "prepare", flight.began)
        result = await self._run(flight, plan)
        return await self._conclude(flight, plan, result, period_s)

    async def _load(self, key: Key) -> Json | None:
        try:
            return await self._world.cluster.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            return None

    def _forget(self, key: Key) -> Outcome:
        self._convergence.forget(key)
        self._teller.forget(key)
        return Outcome(forget=True)

    def _restless_s(self, key: Key, cr: Json) -> float:
        return self._convergence.wait_s(key, cr, self._world.clock.monotonic())

    async def _refuse(self, key: Key, watch: Watch, cr: Json, message: str) -> Outcome:
        self._world.telemetry.run_finished(watch.gvk, succeeded=False, seconds=0.0, way="none")
        await self._teller.refused(key, watch, cr, message)
        return Outcome(error=message)

    async def _plan(self, key: Key, watch: Watch, before: Json, held: Json) -> Plan:
        running = await self._teller.running(key, watch, held)
        seen = running if watch.manage_status else with_spec(running)
        # Asked of what the play sees: the deletion may have come with the latest read.
        return Plan(self._new_run_id(), watch, seen, before, is_finalizer_run(watch, seen))

    async def _run(self, flight: Flight, plan: Plan) -> RunResult:
        began = self._world.clock.monotonic()
        fields = {"generation": generation_of(plan.cr), "run": plan.run_id}
        log.info("run started", extra=about(flight.key, **fields))
        result = await self._flights.run(flight, plan)
        # What the play wrote meanwhile was refused, so its result tells nothing about the CR.
        self._check_leading("tell of a run")
        await self._world.plays.recap(flight.key, result.recap_stdout, _stdout_of(result))
        self._phase(flight.key, "run", began)
        flight.ran = {**fields, "outcome": _word(result), "seconds": round(result.seconds, 3)}
        return result

    async def _conclude(
        self, flight: Flight, plan: Plan, result: RunResult, period_s: float
    ) -> Outcome:
        began, key = self._world.clock.monotonic(), flight.key
        if result.ending is Ending.CANCELLED:
            await self._teller.cancelled(plan, flight.cancelled or result.reason_text)
            return LOOK_AGAIN
        self._count(plan.watch, result)
        end = End(plan, result, verdict_of(result), self._observe(key, plan, result))
        cr = plan.cr
        if plan.is_finalizer and result.succeeded:
            left = await self._finalizers.release(plan.watch, cr)
            if left is None:
                return LOOK_AGAIN
            cr = left
        cr = await self._teller.ended(key, end, cr)
        self._phase(key, "status", began)
        return _next_time(end, cr, period_s)

    def _check_leading(self, what: str) -> None:
        if not self._world.may_run():
            raise NotLeadingError(what)

    def _observe(self, key: Key, plan: Plan, result: RunResult) -> str | None:
        if plan.is_finalizer or not result.succeeded:
            return None
        now = self._world.clock.monotonic()
        # A role that reports how far it got changes its status on every run, and works all the same.
        changed = [task for task in result.changed_tasks if task not in result.telling_tasks]
        return self._convergence.observe(key, plan.cr, changed, now)

    def _count(self, watch: Watch, result: RunResult) -> None:
        self._world.telemetry.run_finished(
            watch.gvk, succeeded=result.succeeded, seconds=result.seconds, way=result.way
        )
        for way, count in result.tasks_by_way.items():
            self._world.telemetry.tasks_ran(way, count)

    def _phase(self, key: Key, phase: str, began: float) -> None:
        self._world.telemetry.phase(key.gvk, phase, self._world.clock.monotonic() - began)


def _next_time(end: End, cr: Json, period_s: float) -> Outcome:
    if not end.verdict.succeeded:
        return Outcome(error=end.verdict.message)
    if is_deleted(cr) and end.plan.watch.finalizer and not end.plan.is_finalizer:
        return Outcome(after_s=AFTER_DELETION_S)
    asked_s = end.result.requeue_after_s
    if asked_s is not None:
        return Outcome(after_s=asked_s if asked_s > 0 else None)
    return _periodic(period_s)


def _periodic(period_s: float) -> Outcome:
    return Outcome(after_s=period_s, is_period=True) if period_s > 0 else Outcome()


def _stdout_of(result: RunResult) -> Path | None:
    return result.artifacts / "stdout" if result.artifacts else None


def _word(result: RunResult) -> str:
    if result.succeeded:
        return "succeeded"
    return "cancelled" if result.ending is Ending.CANCELLED else "failed"
