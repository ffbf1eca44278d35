"""Reports what happened: in status, where that is ours to write, and in Events.

Promises one status write for each thing that happened, and an Event where status cannot be written for
a reason that a retry will not mend: otherwise only the log would have it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rolecall.errors import NotLeadingError, RolecallError
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, UnprocessableError, WebhookDownError
from rolecall.reconcile.active_runs import DueRun
from rolecall.reconcile.annotations import pause_note, who_paused
from rolecall.reconcile.cr_events import CrEvents
from rolecall.reconcile.finalizers import is_finalizer_run
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.verdict import message_of
from rolecall.runner import Ending, RunResult
from rolecall.status import (
    PAUSED,
    Cancelled,
    ConditionEdit,
    Ended,
    InFlight,
    NotRun,
    ObjectWriter,
    Paused,
    Started,
    StatusChange,
    StatusMissingError,
    StatusWriter,
    Verdict,
    conditions_of,
    find,
    generation_of,
    is_true,
)
from rolecall.watches import Watch
from rolecall.workqueue import Key

HELD_MESSAGE = (
    "Deletion waits: reconciling is paused, and the finalizer runs only when it is resumed"
)
HELD_BY_FAILURE = "Deletion waits for the finalizer run, which failed"
HELD_BY_REFUSAL = "Deletion waits for the finalizer run, which cannot start"
PAUSED_MESSAGE = "nothing runs for this object, not even its finalizer"

# A retry does not mend it, or only after a webhook was mended.
_UNWRITABLE = (StatusMissingError, UnprocessableError, ForbiddenError, WebhookDownError)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run came to, or why it could not start."""

    due: DueRun
    result: RunResult
    verdict: Verdict
    unsettled: str | None  # see `Convergence.observe`

    def change(self, edits: Sequence[ConditionEdit]) -> StatusChange:
        has_ready, verdict = self.due.watch.ready_condition, self._verdict_for_status()
        if self.result.ending is Ending.NOT_STARTED:
            return NotRun(verdict.message, has_ready)
        seen = generation_of(self.due.cr)
        return Ended(verdict, seen, has_ready, self.unsettled, edits)

    def _verdict_for_status(self) -> Verdict:
        """The verdict, and what it means for a deletion; it begins with the Go operator's words."""
        if self.verdict.succeeded or not self.due.is_finalizer:
            return self.verdict
        text = self.verdict.message
        return replace(
            self.verdict,
            message=_with_held(text, HELD_BY_FAILURE),
            ready_message=f"{HELD_BY_FAILURE}: {text}",
        )


class Reporter:
    """Writes status and posts Events."""

    def __init__(self, status: StatusWriter, objects: ObjectWriter, events: CrEvents) -> None:
        self._status = status
        self._objects = objects
        self._events = events
        # Keys whose pause this process reported: where status is not ours, nothing else remembers it.
        self._paused: set[Key] = set()
        self._held: set[Key] = set()  # of deleted ones, for the same reason

    async def paused(self, key: Key, watch: Watch, cr: Json) -> None:
        is_news = key not in self._paused and not is_true(conditions_of(cr), PAUSED)
        self._paused.add(key)
        if is_news:
            self._events.paused(cr)
        if not is_finalizer_run(watch, cr):
            await self._write(watch, cr, Paused(paused_message(cr)))
            return
        present = find(conditions_of(cr), PAUSED)
        if key not in self._held and (present or {}).get("message") != HELD_MESSAGE:
            self._events.deletion_waits(cr, HELD_MESSAGE)
        self._held.add(key)
        await self._write(watch, cr, Paused(HELD_MESSAGE))

    async def running(self, key: Key, watch: Watch, cr: Json) -> Json:
        """A run is about to start; returns the CR as it is then, which is what the play sees."""
        if key in self._paused or is_true(conditions_of(cr), PAUSED):
            self._paused.discard(key)
            self._held.discard(key)
            self._events.resumed(cr)
        return await self._write(watch, cr, Started(has_ready=watch.ready_condition))

    async def in_flight(self, watch: Watch, cr: Json, progress: Progress) -> Json:
        """A run goes on for long; returns the CR as it is then."""
        since = progress.task_since.strftime("%H:%M:%S UTC")
        return await self._write(watch, cr, InFlight(f"{progress.where} since {since}"))

    def no_output(self, due: DueRun, progress: Progress) -> None:
        """A run has said nothing for a minute."""
        self._events.no_output(due.cr, progress.where)

    async def refused(self, key: Key, watch: Watch, cr: Json, message: str) -> Json:
        """No run could be started; reported in status if possible. Returns the CR as it is then."""
        text = message
        if is_finalizer_run(watch, cr):
            text = _with_held(message, HELD_BY_REFUSAL)
            self._events.finalizer_failed(key, cr, f"{HELD_BY_REFUSAL}: {message}")
        else:
            self._events.failed(key, cr, message)
        try:
            return await self._write(watch, cr, NotRun(text, has_ready=watch.ready_condition))
        except NotLeadingError:
            raise
        except RolecallError as error:
            _logger.error("could not write status", extra=key_fields(key, error=str(error)))
            return cr

    async def changed(self, watch: Watch, cr: Json, change: StatusChange) -> Json:
        """An extension took the turn; returns the CR as it is then."""
        return await self._write(watch, cr, change)

    async def cancelled(self, due: DueRun, cr: Json, reason: str) -> None:
        """The engine ended a run; `cr` is the newest that is known of it."""
        message = f"Run {due.run_id} was stopped: {reason}"
        await self._write(due.watch, cr, Cancelled(message))

    async def ended(
        self, key: Key, report: RunReport, cr: Json, edits: Sequence[ConditionEdit]
    ) -> Json:
        """A run is over; returns the CR as it is then. `cr` is the newest that is known of it."""
        self._post_events(key, report)
        watch = report.due.watch
        written = await self._write(watch, cr, report.change(edits))
        for edit in edits:
            edit.written()
        return written if written is not cr else await self._objects.read_again(watch.gvk, cr)

    @contextmanager
    def reporting_webhook_down(self, cr: Json) -> Iterator[None]:
        """While our finalizer is put on or taken off: report a webhook that is down."""
        try:
            yield
        except WebhookDownError as error:
            self._events.finalizer_unwritable(cr, str(error))
            raise

    def forget(self, key: Key) -> None:
        for keys in (self._paused, self._held):
            keys.discard(key)
        self._events.forget(key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        for keys in (self._paused, self._held):
            keys -= {key for key in keys if is_meant(key)}
        self._events.forget_of(is_meant)

    def _post_events(self, key: Key, report: RunReport) -> None:
        before, watch = report.due.before, report.due.watch
        if not report.verdict.succeeded:
            self._report_failure(key, report)
            return
        self._events.succeeded(key, before, has_status=watch.manage_status)
        if report.unsettled:
            self._events.not_converging(before, report.unsettled)

    def _report_failure(self, key: Key, report: RunReport) -> None:
        before, message = report.due.before, message_of(report.result)
        if report.due.is_finalizer:
            self._events.finalizer_failed(key, before, f"{HELD_BY_FAILURE}: {message}")
        else:
            self._events.failed(key, before, message, report.result.ending)

    async def _write(self, watch: Watch, cr: Json, change: StatusChange) -> Json:
        if not watch.manage_status:
            return cr
        try:
            return await self._status.write(watch.gvk, cr, change)
        except _UNWRITABLE as error:
            self._events.status_unwritable(cr, str(error))
            raise


def paused_message(cr: Json) -> str:
    """Who paused a CR, when and why, and what follows; for the condition `Paused`."""
    note = pause_note(cr)
    since = f" since {note.since}" if note and note.since else ""
    return f"Paused by {who_paused(cr)}{since}: {PAUSED_MESSAGE}"


def _with_held(text: str, held: str) -> str:
    """Why there was no good run, and then what that means for a deletion."""
    held = held[0].lower() + held[1:]
    return f"{text}\n{held}" if "\n" in text else f"{text}; {held}"
