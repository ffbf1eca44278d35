"""Runs in flight: starts them, waits for them, and ends them early where that was asked for.

Promises: a run that cannot get access, or cannot start, has a result that says so; access ends with the
run; a run whose wait is cancelled is ended with it. A key is aboard from the beginning of its turn, so
that a notice which comes before the run has started is not lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rolecall.errors import ClusterError, NotLeadingError, RolecallError
from rolecall.kube import NotFoundError
from rolecall.reconcile.ports import Outcome, RunAccess, RunDefaults, World
from rolecall.reconcile.requests import is_deleted, kept_artifacts_of, verbosity_of
from rolecall.runner import Ending, OnEvent, RunEvent, RunHandle, RunRequest, RunResult
from rolecall.watches import Watch
from rolecall.workqueue import Key

Json = dict[str, Any]
T = TypeVar("T")
D = TypeVar("D")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that was decided on."""

    run_id: str
    watch: Watch
    cr: Json  # as the play sees it
    before: Json  # as it was when the turn began: what the last turn told
    is_finalizer: bool


@dataclass(slots=True)
class Flight:
    """A key in hand, with its run once there is one."""

    key: Key
    began: float
    noticed: asyncio.Event = field(default_factory=asyncio.Event)
    handle: RunHandle | None = None
    cancelled: str = ""  # why it was ended early
    ran: Mapping[str, object] = field(default_factory=dict)  # what the log shall tell of the run

    def with_run(self, outcome: Outcome) -> Outcome:
        """The outcome of a turn, with what is known of its run."""
        return replace(outcome, ran=self.ran)

    def cancel(self, reason: str) -> None:
        """End the run, or do not let it start."""
        self.cancelled = self.cancelled or reason
        if self.handle is not None:
            self.handle.cancel(reason)


class Flights:
    """All keys in hand."""

    def __init__(self, world: World, defaults: RunDefaults) -> None:
        self._world = world
        self._defaults = defaults
        self._aboard: dict[Key, Flight] = {}
        self._closed = ""  # why no run may start any more

    @contextmanager
    def aboard(self, key: Key) -> Iterator[Flight]:
        """Count a key as in hand."""
        began = self._world.clock.monotonic()
        flight = self._aboard[key] = Flight(key, began, cancelled=self._closed)
        try:
            yield flight
        finally:
            del self._aboard[key]

    def notice(self, key: Key) -> None:
        """The CR was edited or deleted: where the watch allows it, its run may be pointless now."""
        if (flight := self._aboard.get(key)) is not None:
            flight.noticed.set()

    def cancel_all(self, reason: str) -> None:
        """End all runs, and let none start any more."""
        self._closed = reason
        self.interrupt(reason)

    def interrupt(self, reason: str) -> None:
        """End the runs in flight; others may start later."""
        for flight in self._aboard.values():
            flight.cancel(reason)

    async def run(self, flight: Flight, plan: Plan) -> RunResult:
        """Make the run and return what it came to."""
        async with AsyncExitStack() as stack:
            try:
                lease = self._world.access.lease(plan.run_id, plan.cr, plan.watch)
                access = await stack.enter_async_context(lease)
            except (OSError, RolecallError) as error:
                return _not_started(plan, f"access to the API server could not be set up: {error}")
            if not self._world.may_run():
                raise NotLeadingError("start a run")
            if flight.cancelled:
                return RunResult(plan.run_id, Ending.CANCELLED, None, reason_text=flight.cancelled)
            asked = verbosity_of(plan.cr)
            request = self._request(plan, access, asked)
            listener = self._listener(flight, plan, _or(asked, self._defaults.play_verbosity))
            flight.handle = await self._world.runner.start(request, listener)
            if flight.cancelled:  # while it was starting
                flight.handle.cancel(flight.cancelled)
            async with self._watched(flight, plan):
                return await flight.handle.result()

    def _request(self, plan: Plan, access: RunAccess, asked_verbosity: int | None) -> RunRequest:
        watch, defaults = plan.watch, self._defaults
        return RunRequest(
            run_id=plan.run_id,
            watch=watch,
            cr=plan.cr,
            is_finalizer=plan.is_finalizer,
            kubeconfig=access.kubeconfig,
            modules_kubeconfig=access.modules_kubeconfig,
            verbosity=_or(asked_verbosity, watch.verbosity),
            keep_artifacts=kept_artifacts_of(plan.cr, watch),
            timeout_s=_or(watch.run_timeout_s, defaults.timeout_s),
            no_progress_timeout_s=_or(watch.no_progress_timeout_s, defaults.no_progress_timeout_s),
        )

    def _listener(self, flight: Flight, plan: Plan, verbosity: int) -> OnEvent:
        def on_event(event: RunEvent) -> None:
            self._world.plays.event(flight.key, plan.run_id, event, verbosity)

        return on_event

    @asynccontextmanager
    async def _watched(self, flight: Flight, plan: Plan) -> AsyncIterator[None]:
        if not (plan.watch.cancel_on_delete or plan.watch.cancel_on_change):
            yield
            return
        watcher = asyncio.create_task(self._cancel_when_pointless(flight, plan), name="notices")
        try:
            yield
        finally:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    async def _cancel_when_pointless(self, flight: Flight, plan: Plan) -> None:
        while not flight.cancelled:
            await flight.noticed.wait()
            flight.noticed.clear()
            try:
                reason = await self._why_pointless(flight.key, plan)
            except ClusterError as error:
                # The run is not worth less for that; its end will read the CR again anyway.
                log.debug("notice could not be followed up", extra={"fields": {"error": error}})
                continue
            if reason:
                flight.cancel(reason)

    async def _why_pointless(self, key: Key, plan: Plan) -> str:
        watch, known = plan.watch, plan.cr["metadata"]
        try:
            cr = await self._world.cluster.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            cr = {"metadata": {}}
        now = cr["metadata"]
        if watch.cancel_on_delete and now.get("uid") != known.get("uid"):
            return "the object is gone"
        if plan.is_finalizer:
            return ""
        if watch.cancel_on_delete and is_deleted(cr):
            return "the object is being deleted"
        if watch.cancel_on_change and now.get("generation") != known.get("generation"):
            return f"generation {now.get('generation')} takes its place"
        return ""


def _not_started(plan: Plan, reason: str) -> RunResult:
    return RunResult(plan.run_id, Ending.NOT_STARTED, None, reason_text=reason)


def _or(value: T | None, default: D) -> T | D:
    return default if value is None else value
