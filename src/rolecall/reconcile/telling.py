"""Tells what happened: in status, where that is ours to write, and in Events.

Promises one status write for each thing that happened, and an Event where status cannot be written for
a reason that trying again will not mend: otherwise nobody but the log would know.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from rolecall.errors import NotLeadingError, RolecallError
from rolecall.kube import ForbiddenError, UnprocessableError
from rolecall.reconcile.announce import Announcer
from rolecall.reconcile.flights import Plan
from rolecall.reconcile.log_fields import about
from rolecall.reconcile.verdict import message_of
from rolecall.runner import Ending, RunResult
from rolecall.status import (
    PAUSED,
    Cancelled,
    Change,
    ConflictSafe,
    Ended,
    Held,
    Refused,
    Started,
    StatusMissingError,
    StatusWriter,
    Verdict,
    conditions_of,
    generation_of,
    is_true,
)
from rolecall.watches import Watch
from rolecall.workqueue import Key

Json = dict[str, Any]

PAUSED_MESSAGE = "Nothing runs for this object, not even its finalizer, while it is paused"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class End:
    """A run that is over, and what is to be told of it."""

    plan: Plan
    result: RunResult
    verdict: Verdict
    restless: str | None  # see `Convergence.observe`

    def change(self) -> Change:
        """What it means for status."""
        has_ready = self.plan.watch.ready_condition
        if self.result.ending is Ending.NOT_STARTED:
            return Refused(self.verdict.message, has_ready)
        return Ended(self.verdict, generation_of(self.plan.cr), has_ready, self.restless)


class Teller:
    """Says it to the CR's owner."""

    def __init__(self, status: StatusWriter, objects: ConflictSafe, announcer: Announcer) -> None:
        self._status = status
        self._objects = objects
        self._announcer = announcer
        # Told to be paused by this process: where status is not ours, nothing else remembers it.
        self._paused: set[Key] = set()

    async def paused(self, key: Key, watch: Watch, cr: Json) -> None:
        """Nothing will run."""
        is_news = key not in self._paused and not is_true(conditions_of(cr), PAUSED)
        self._paused.add(key)
        if is_news:
            self._announcer.paused(cr)
        await self._write(watch, cr, Held(PAUSED_MESSAGE))

    async def running(self, key: Key, watch: Watch, cr: Json) -> Json:
        """A run is about to start; returns the CR as it is then, which is what the play sees."""
        if key in self._paused or is_true(conditions_of(cr), PAUSED):
            self._paused.discard(key)
            self._announcer.resumed(cr)
        return await self._write(watch, cr, Started(has_ready=watch.ready_condition))

    async def refused(self, key: Key, watch: Watch, cr: Json, message: str) -> None:
        """No run could be started; status is told if it can be."""
        self._announcer.failed(key, cr, message)
        try:
            await self._write(watch, cr, Refused(message, has_ready=watch.ready_condition))
        except NotLeadingError:
            raise
        except RolecallError as error:
            log.error("status could not be written", extra=about(key, error=str(error)))

    async def cancelled(self, plan: Plan, reason: str) -> None:
        """The engine ended the run."""
        message = f"Run {plan.run_id} was ended: {reason}"
        await self._write(plan.watch, plan.cr, Cancelled(message))

    async def ended(self, key: Key, end: End, cr: Json) -> Json:
        """A run is over; returns the CR as it is then. `cr` is the newest that is known of it."""
        self._announce(key, end)
        watch = end.plan.watch
        told = await self._write(watch, cr, end.change())
        return told if told is not cr else await self._objects.read_again(watch.gvk, cr)

    def forget(self, key: Key) -> None:
        """The CR is gone."""
        self._paused.discard(key)
        self._announcer.forget(key)

    def _announce(self, key: Key, end: End) -> None:
        before, watch = end.plan.before, end.plan.watch
        if not end.verdict.succeeded:
            self._announcer.failed(key, before, message_of(end.result), end.result.ending)
            return
        self._announcer.succeeded(key, before, has_status=watch.manage_status)
        if end.restless:
            self._announcer.not_converging(before, end.restless)

    async def _write(self, watch: Watch, cr: Json, change: Change) -> Json:
        if not watch.manage_status:
            return cr
        try:
            return await self._status.write(watch.gvk, cr, change)
        except (StatusMissingError, UnprocessableError, ForbiddenError) as error:
            self._announcer.status_unwritable(cr, str(error))
            raise
