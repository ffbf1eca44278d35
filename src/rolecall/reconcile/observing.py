"""What a turn of an observed CR comes to: a plan instead of a run, and status that tells what it
found.

Promise: nothing is written but the condition `Drifted`: no finalizer, no other condition, no object.
An observing engine may stand beside one that operates, and takes nothing from it.

A CR that is being deleted is left alone, with all that its finalizer would destroy. Where the
finalizer of its watch is on it, an engine that operates must come and run it; an Event says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from rolecall.json_object import Json
from rolecall.reconcile.active_runs import ActiveRun
from rolecall.reconcile.annotations import is_deleted, with_spec
from rolecall.reconcile.come_back import periodic
from rolecall.reconcile.finalizers import is_finalizer_run
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.ports import Drift, Outcome, ReconcilerPorts
from rolecall.reconcile.reporter import Reporter
from rolecall.reconcile.shortened import bounded
from rolecall.runner import RunHandle
from rolecall.status import Observed, conditions_of, generation_of
from rolecall.watches import Watch

HELD_BY_OBSERVING = (
    "Deletion waits: the object is only observed here, and nothing runs its finalizer"
)
_SHOWN_PATHS = 3
_LONGEST_PATH = 200

_logger = logging.getLogger(__name__)


class Observing:
    def __init__(
        self, ports: ReconcilerPorts, reporter: Reporter, new_run_id: Callable[[], str]
    ) -> None:
        self._ports = ports
        self._reporter = reporter
        self._new_run_id = new_run_id

    async def turn(self, active: ActiveRun, watch: Watch, cr: Json, period_s: float) -> Outcome:
        """Plan, tell, and come back after the period."""
        key = active.key
        if is_deleted(cr):
            if is_finalizer_run(watch, cr):
                self._reporter.held_by_observing(cr, HELD_BY_OBSERVING)
            self._ports.telemetry.drifted(key, 0)
            return Outcome(why="it is observed, and being deleted: nothing runs for that")
        drift = await self._find(active, watch, cr)
        if active.is_stopped:
            return replace(periodic(period_s), why=active.cancelled)
        if active.cancelled:
            return Outcome(after_s=0.0, is_put_off=True, cause=active.cause, why=active.cancelled)
        told = Observed(
            drift.objects, text_of(drift), generation_of(cr), is_known=not drift.unknown
        )
        written = await self._reporter.observed(key, watch, cr, told)
        self._ports.telemetry.drifted(key, drift.objects)
        self._ports.telemetry.conditions(key, conditions_of(written))
        fields = key_fields(key, objects=drift.objects, unknown=drift.unknown)
        _logger.info("observed what a run would change", extra=fields)
        return periodic(period_s)

    async def _find(self, active: ActiveRun, watch: Watch, cr: Json) -> Drift:
        if self._ports.drift is None:
            return Drift(unknown="this engine makes no plans")

        def on_start(handle: RunHandle) -> None:
            active.handle = handle
            if active.cancelled:
                active.cancel(active.cancelled)

        try:
            return await self._ports.drift.find(self._new_run_id(), with_spec(cr), watch, on_start)
        finally:
            active.handle = None


def text_of(drift: Drift) -> str:
    """What differs, in one line for people."""
    if drift.unknown:
        return bounded(f"What a run would change is not known: {drift.unknown}", 1024)
    if not drift.objects:
        return "A run would change nothing"
    shown = [bounded(path, _LONGEST_PATH) for path in drift.paths[:_SHOWN_PATHS]]
    more = len(drift.paths) - len(shown)
    rest = f" and {more} more" if more else ""
    count = f"{drift.objects} object{'s' * (drift.objects != 1)}"
    return f"A run would change {count}: {', '.join(shown)}{rest}"
