"""Reports a run while it is in flight: which task it is at, and when it has had no output for long.

Status is written for long runs only, and seldom: a run of a few seconds costs no request more. Such a
write is over before the last one of its run begins, so that it neither comes after it nor gets in its
way; whatever goes wrong with it is the run's business in no way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.reconcile.active_runs import ActiveRun, DueRun
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.reporter import Reporter

# A run that is over by then is reported by its result alone.
FIRST_REPORTED_S = 10.0
REPORTED_EVERY_S = 30.0
QUIET_S = 60.0
_LOOK_EVERY_S = 1.0
# How long the end of a run waits for a write that the API server does not answer.
_LAST_WRITE_S = 2.0

_logger = logging.getLogger(__name__)


class InFlightReports:
    def __init__(self, reporter: Reporter, clock: Clock) -> None:
        self._reporter = reporter
        self._clock = clock

    @asynccontextmanager
    async def reporting(self, active: ActiveRun, due: DueRun) -> AsyncIterator[None]:
        """Report the run while the context lasts; nothing is written any more when it is left."""
        report = _Report(self._reporter, self._clock, active, due)
        reporting = asyncio.create_task(report.keep_current(), name="in flight")
        try:
            yield
        finally:
            await report.end(reporting)


class _Report:
    """What was reported of one run."""

    def __init__(self, reporter: Reporter, clock: Clock, active: ActiveRun, due: DueRun) -> None:
        self._reporter, self._clock = reporter, clock
        self._active, self._due = active, due
        self._reported: Progress | None = None
        self._reported_at_s = -REPORTED_EVERY_S
        self._quiet_in: Progress | None = None  # whose silence was reported
        self._is_writing = False
        self._is_over = False

    async def keep_current(self) -> None:
        await self._clock.sleep(FIRST_REPORTED_S)
        try:
            while not self._is_over:
                if (progress := self._active.progress) is not None:
                    self._report_silence(progress)
                    await self._report_task(progress)
                if not self._is_over:
                    await self._clock.sleep(_LOOK_EVERY_S)
        except Exception:  # a bug here must not become the result of the run
            _logger.exception(
                "internal error: the current task is no longer written to status",
                extra=key_fields(self._active.key),
            )

    async def end(self, reporting: asyncio.Task[None]) -> None:
        self._is_over = True
        try:
            if self._is_writing:
                bell = asyncio.ensure_future(self._clock.sleep(_LAST_WRITE_S))
                await asyncio.wait({reporting, bell}, return_when=asyncio.FIRST_COMPLETED)
                bell.cancel()
        finally:
            reporting.cancel()
            with suppress(asyncio.CancelledError):
                await reporting

    def _report_silence(self, progress: Progress) -> None:
        quiet_s = self._clock.monotonic() - self._active.spoke_s
        if quiet_s < QUIET_S or _is_same_task(self._quiet_in, progress):
            return
        self._quiet_in = progress
        self._reporter.no_output(self._due, progress)

    async def _report_task(self, progress: Progress) -> None:
        now_s = self._clock.monotonic()
        if not progress.task or _is_same_task(self._reported, progress):
            return
        if not self._due.watch.manage_status or now_s - self._reported_at_s < REPORTED_EVERY_S:
            return
        self._reported_at_s = now_s
        self._is_writing = True
        try:
            known = self._active.newest or self._due.cr
            self._active.newest = await self._reporter.in_flight(self._due.watch, known, progress)
            self._reported = progress
        except RolecallError as error:
            # The end of the run writes again, and reports what is wrong then.
            _logger.debug(
                "could not write the current task to status",
                extra=key_fields(self._active.key, error=str(error)),
            )
        finally:
            self._is_writing = False


def _is_same_task(reported: Progress | None, progress: Progress) -> bool:
    return reported is not None and (reported.task, reported.place, reported.task_since) == (
        progress.task,
        progress.place,
        progress.task_since,
    )
