"""What Events report: changes of the state of a CR, not every run.

First success, recovery, failure, timeout, a deletion that waits, pause, resumption, a
task that never settles, one that says nothing for a minute, a status or finalizer that cannot be
written. Texts leave out the run id, so that the recorder recognises repetitions and counts them.
"""

from __future__ import annotations

from collections.abc import Callable

from rolecall.json_object import Json
from rolecall.reconcile.annotations import who_paused
from rolecall.reconcile.ports import EventRecorder
from rolecall.runner import Ending
from rolecall.status import (
    FAILURE,
    NOT_CONVERGING,
    SUCCESSFUL,
    conditions_of,
    find,
    is_true,
)
from rolecall.workqueue import Key

NORMAL = "Normal"
WARNING = "Warning"

_TIME_LIMITS = (Ending.TIMED_OUT, Ending.NO_PROGRESS)


class CrEvents:
    def __init__(self, events: EventRecorder) -> None:
        self._events = events
        # How the last run ended, for CRs whose status is not ours to write and so cannot show it.
        self._last: dict[Key, bool] = {}

    def succeeded(self, key: Key, before: Json, *, has_status: bool) -> None:
        """Report the first success, and one after a failure; `before` is the CR of the start."""
        last = _last_of(before) if has_status else self._last.get(key)
        if has_status:
            self._last.pop(key, None)
        else:
            self._last[key] = True
        if last is None:
            self._record(before, NORMAL, "Succeeded", "The first reconciliation succeeded")
        elif not last:
            self._record(before, NORMAL, "Recovered", "The reconciliation succeeded again")

    def failed(self, key: Key, cr: Json, message: str, ending: Ending | None = None) -> None:
        """Report a failure; the recorder knows whether it reported the same before."""
        self._last[key] = False
        reason = "TimedOut" if ending in _TIME_LIMITS else "Failed"
        self._record(cr, WARNING, reason, message)

    def finalizer_failed(self, key: Key, cr: Json, message: str) -> None:
        """Report a failure that holds up a deletion."""
        self._last[key] = False
        self.deletion_waits(cr, message)

    def deletion_waits(self, cr: Json, message: str) -> None:
        """Report why a deleted CR is still there."""
        self._record(cr, WARNING, "DeletionWaits", message)

    def not_converging(self, before: Json, message: str) -> None:
        """Report tasks that do not settle, once."""
        if not is_true(conditions_of(before), NOT_CONVERGING):
            self._record(before, WARNING, "NotConverging", message)

    def no_output(self, cr: Json, where: str) -> None:
        """Report a task without output for a minute; it may hang."""
        place = f"in {where}" if where else "before the first task"
        self._record(cr, WARNING, "NoOutput", f"No output for a minute {place}; the run goes on")

    def paused(self, cr: Json) -> None:
        message = f"Paused by {who_paused(cr)}: nothing will run for it"
        self._record(cr, NORMAL, "Paused", message)

    def resumed(self, cr: Json) -> None:
        self._record(cr, NORMAL, "Resumed", "Resumed")

    def status_unwritable(self, cr: Json, message: str) -> None:
        """Report here what status cannot say."""
        self._record(cr, WARNING, "StatusNotWritten", message)

    def finalizer_unwritable(self, cr: Json, message: str) -> None:
        """Report why a CR is not begun with, or not let go."""
        self._record(cr, WARNING, "FinalizerNotWritten", message)

    def forget(self, key: Key) -> None:
        self._last.pop(key, None)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        for key in [key for key in self._last if is_meant(key)]:
            del self._last[key]

    def _record(self, cr: Json, kind: str, reason: str, message: str) -> None:
        self._events.record(cr, kind=kind, reason=reason, message=message)


def _last_of(cr: Json) -> bool | None:
    """How the last run ended, by the conditions; None where none ended yet."""
    conditions = conditions_of(cr)
    if is_true(conditions, FAILURE):
        return False
    succeeded = find(conditions, SUCCESSFUL)
    return True if succeeded is not None and succeeded.get("reason") == SUCCESSFUL else None
