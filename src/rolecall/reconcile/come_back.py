"""When a key comes back of which nothing more is to be said: outcomes that several steps share."""

from __future__ import annotations

from rolecall.reconcile.ports import Outcome
from rolecall.workqueue import Cause, Turn, Urgency


def again_now(cause: Cause) -> Outcome:
    """Read the CR again and decide again, for the same cause."""
    return Outcome(after_s=0.0, urgency=Urgency.EDIT, cause=cause, is_put_off=True)


def put_off(turn: Turn, after_s: float, why: str) -> Outcome:
    return Outcome(
        after_s=after_s, urgency=turn.urgency, cause=turn.cause, is_put_off=True, why=why
    )


def periodic(period_s: float) -> Outcome:
    return Outcome(after_s=period_s, is_period=True) if period_s > 0 else Outcome()
