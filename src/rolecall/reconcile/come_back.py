"""When a key comes back: after a run, and where nothing more is to be said of a turn."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.reconcile.annotations import is_deleted
from rolecall.reconcile.ports import Outcome
from rolecall.reconcile.reporter import RunReport
from rolecall.workqueue import DELETION, Cause, Turn, Urgency

# How soon a CR is reconciled again whose deletion came during its run.
AFTER_DELETION_S = 5.0


def again_now(cause: Cause) -> Outcome:
    """Read the CR again and decide again, for the same cause."""
    return Outcome(after_s=0.0, urgency=Urgency.EDIT, cause=cause, is_put_off=True)


def put_off(turn: Turn, after_s: float, why: str) -> Outcome:
    return Outcome(
        after_s=after_s, urgency=turn.urgency, cause=turn.cause, is_put_off=True, why=why
    )


def periodic(period_s: float) -> Outcome:
    return Outcome(after_s=period_s, is_period=True) if period_s > 0 else Outcome()


def next_time(report: RunReport, cr: Json, period_s: float) -> Outcome:
    """After a run; `cr` is as it was left."""
    if not report.verdict.succeeded:
        return Outcome(error=report.verdict.message, is_of_run=True)
    if is_deleted(cr) and report.due.watch.finalizer and not report.due.is_finalizer:
        return Outcome(after_s=AFTER_DELETION_S, cause=DELETION)
    asked_s = report.result.requeue_after_s
    if asked_s is not None:
        return Outcome(after_s=asked_s if asked_s > 0 else None)
    return periodic(period_s)
