"""The turn of an observed CR: a plan instead of a run, and a condition with its result.

Promise: nothing is written but the condition `Drifted`: no finalizer, no other condition, no object.
An observing engine may stand beside one that operates, and takes nothing from it.

A CR that is being deleted is left alone, with all that its finalizer would destroy. Where the
finalizer of its watch is on it, an engine that operates must come and run it; an Event says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from rolecall.extensions.plan.conditions import DRIFTED, DriftApplied, Observed
from rolecall.extensions.plan.drift import Drift, DriftFinder
from rolecall.extensions.plan.keys import is_observed
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.reconcile import (
    EndedRun,
    EventRecorder,
    Outcome,
    TakenTurn,
    TurnView,
    is_deleted,
    is_finalizer_run,
    periodic,
    random_run_id,
    with_spec,
)
from rolecall.status import FALSE, TRUE, conditions_of, find, generation_of
from rolecall.workqueue import Key

HELD_BY_OBSERVING = (
    "Deletion waits: the object is only observed here, and nothing runs its finalizer"
)
_logger = logging.getLogger(__name__)


class Observing:
    def __init__(
        self,
        finder: DriftFinder,
        events: EventRecorder,
        on_drift: Callable[[Key, int], None],
        new_run_id: Callable[[], str] = random_run_id,
    ) -> None:
        """`on_drift` is called with how many objects of a CR differ, and 0 where it is not observed."""
        self._finder, self._events, self._on_drift = finder, events, on_drift
        self._new_run_id = new_run_id
        # The last result, for CRs whose status we must not write, so that it is not in their status.
        self._statuses: dict[Key, str] = {}
        # Keys that this process ran since it observed them last. What `Drifted` says of them later is
        # another engine's word, which only observes.
        self._ran: set[Key] = set()

    async def turn(self, view: TurnView, taken: TakenTurn) -> Outcome | None:
        """Plan, report, and requeue after the period; None: the CR is not observed."""
        key, cr, watch = view.turn.key, view.cr, view.watch
        if not is_observed(cr, watch):
            self._on_drift(key, 0)
            return None
        if is_deleted(cr):
            if is_finalizer_run(watch, cr):
                self._record(cr, "Warning", "DeletionWaits", HELD_BY_OBSERVING)
            self._on_drift(key, 0)
            return Outcome(why="it is observed, and being deleted: nothing runs for that")
        with taken.running() as on_start:
            drift = await self._finder.find(self._new_run_id(), with_spec(cr), watch, on_start)
        if taken.is_stopped:
            return replace(periodic(view.period_s), why=taken.cancelled)
        if taken.cancelled:
            cause = view.turn.cause
            return Outcome(after_s=0.0, is_put_off=True, cause=cause, why=taken.cancelled)
        await self._report(key, cr, drift, taken)
        return periodic(view.period_s)

    def edit_after(self, run: EndedRun) -> DriftApplied | None:
        """What a run makes of `Drifted`."""
        if not run.result.succeeded or run.key in self._ran:
            return None
        return DriftApplied(lambda: self._ran.add(run.key))

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self._ran = {key for key in self._ran if not is_meant(key)}
        self._statuses = {key: said for key, said in self._statuses.items() if not is_meant(key)}

    async def _report(self, key: Key, cr: Json, drift: Drift, taken: TakenTurn) -> None:
        result = Observed(drift.objects, str(drift), generation_of(cr), is_known=not drift.unknown)
        self._ran.discard(key)
        self._post(key, cr, result)
        await taken.write(result)
        self._on_drift(key, drift.objects)
        place = {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
        fields = log_fields(**place, objects=drift.objects, unknown=drift.unknown)
        _logger.info("observed what a run would change", extra=fields)

    def _post(self, key: Key, cr: Json, result: Observed) -> None:
        """Report when it changes whether a run would change anything, or is not known any more."""
        before = find(conditions_of(cr), DRIFTED)
        was = before.get("status") if before is not None else self._statuses.get(key)
        self._statuses[key] = result.status
        if was == result.status:
            return
        if not result.is_known:
            self._record(cr, "Warning", "DriftUnknown", result.message)
        if result.status == TRUE:
            self._record(cr, "Warning", "Drifted", result.message)
        elif result.status == FALSE and was is not None:
            self._record(cr, "Normal", "NotDrifted", result.message)

    def _record(self, cr: Json, kind: str, reason: str, message: str) -> None:
        self._events.record(cr, kind=kind, reason=reason, message=message)
