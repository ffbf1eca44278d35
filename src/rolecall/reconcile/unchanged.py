"""Asks whether a turn needs a run at all, and tells of each run what that takes to know."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.reconcile.active_runs import ActiveRun, RunPlan
from rolecall.reconcile.annotations import is_deleted
from rolecall.reconcile.ports import RunSkipper
from rolecall.runner import RunResult
from rolecall.watches import Watch


async def why_unchanged(
    skips: RunSkipper, active: ActiveRun, watch: Watch, cr: Json, period_s: float
) -> str:
    """Why no run is needed; empty: make it. What is being deleted has its finalizer run."""
    if active.turn is None or not watch.skip_unchanged or is_deleted(cr):
        return ""
    return await skips.why_no_run(active.turn, watch, cr, period_s)


async def remember(skips: RunSkipper, active: ActiveRun, plan: RunPlan, result: RunResult) -> None:
    """Tell of a run that came to its end."""
    if not plan.watch.skip_unchanged:
        return
    if plan.is_finalizer:
        skips.forget(active.key)
        return
    record = active.notes.record() if active.notes is not None else None
    await skips.ran(active.key, plan.watch, (plan.before, plan.cr), result, record)
