"""Runs in flight: starts them, waits for them, and ends them early where that was asked for.

Promises: a run that cannot get access, or cannot start, has a result that says so; access ends with the
run; a run whose wait is cancelled is ended with it. A key is held from the beginning of its turn, so
that an edit which comes before the run has started is not lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from rolecall.clock import Clock
from rolecall.errors import ClusterError, NotLeadingError, RolecallError
from rolecall.history import write_spec
from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.reconcile.annotations import is_deleted, kept_artifacts_of, verbosity_of
from rolecall.reconcile.cr_events import WARNING
from rolecall.reconcile.following import NOT_FOLLOWED, FollowedRun
from rolecall.reconcile.key_fields import key_fields
from rolecall.reconcile.ports import ReconcilerPorts, RunAccess, RunDefaults, TurnTrail
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.shortened import one_line
from rolecall.runner import Ending, OnEvent, RunEvent, RunHandle, RunRequest, RunResult, terms_of
from rolecall.watches import Watch
from rolecall.workqueue import Cause, Key, Turn

_LONGEST_NAME = 200
T = TypeVar("T")
D = TypeVar("D")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run that is to be made now; its CR is marked as running."""

    run_id: str
    watch: Watch
    cr: Json  # as the play sees it
    before: Json  # as it was when the turn began: what the last turn wrote
    is_finalizer: bool
    cause: Cause


@dataclass(slots=True)
class ActiveRun:
    """A key in hand, with its run once there is one."""

    key: Key
    began: float
    cause: Cause
    is_brought: bool = False  # its CR is that of an event, and was not read
    edited: asyncio.Event = field(default_factory=asyncio.Event)
    handle: RunHandle | None = None
    cancelled: str = ""  # why it was ended early
    is_stopped: bool = False  # for a person who asked for it
    ran: Mapping[str, object] = field(default_factory=dict)  # what the log says of the run
    result: RunResult | None = None  # once it is over
    trail: TurnTrail | None = None  # the same
    progress: Progress | None = None  # while the run is in flight
    spoke_s: float = 0.0  # when the run last said anything, on the clock that never jumps
    newest: Json | None = None  # the CR as we last wrote it during the run
    followed: FollowedRun = NOT_FOLLOWED

    def follow(self, event: RunEvent, clock: Clock) -> None:
        """The run said something."""
        self.spoke_s = clock.monotonic()
        if self.progress is not None:
            self.progress = self.progress.after(event, clock.now())

    def leave_trail(self, due: DueRun, run_began_s: float, now_s: float, run: RunResult) -> None:
        """The run is over, whatever comes of it."""
        uid = str(due.cr["metadata"].get("uid", ""))
        self.trail = TurnTrail(self.began, run_began_s, now_s, uid, run, self.followed)

    def forget_progress(self) -> None:
        """The run is over."""
        self.progress = None

    def freeze(self) -> None:
        """Stop all processes of the run, here and now, and for good: it is ended next."""
        if self.handle is not None:
            self.handle.freeze()

    def cancel(self, reason: str) -> None:
        """End the run, or do not let it start."""
        self.cancelled = self.cancelled or reason
        if self.handle is not None:
            self.handle.cancel(reason)


class _SlotOfRun:
    """The `RunSlot` of one run: of no use any more once its turn is over."""

    def __init__(self, active: ActiveRun, ports: ReconcilerPorts) -> None:
        self._active, self._ports = active, ports

    def leave(self) -> None:
        if self._active.progress is not None:
            self._report(self._ports.clock.now())
            self._ports.slots.leave_slot(self._active.key)

    def want(self, on_given: Callable[[], None]) -> None:
        def go_on() -> None:
            self._report(None)
            on_given()

        if self._active.progress is not None:
            self._ports.slots.want_slot(self._active.key, go_on)

    def _report(self, waits_since: datetime | None) -> None:
        if self._active.progress is not None:
            self._active.progress = replace(self._active.progress, waits_since=waits_since)


class ActiveRuns:
    def __init__(self, ports: ReconcilerPorts, defaults: RunDefaults) -> None:
        self._ports = ports
        self._defaults = defaults
        self._by_key: dict[Key, ActiveRun] = {}
        self._closed = ""  # why no run may start any more

    @contextmanager
    def hold(self, turn: Turn) -> Iterator[ActiveRun]:
        began = self._ports.clock.monotonic()
        key = turn.key
        active = self._by_key[key] = ActiveRun(key, began, turn.cause, cancelled=self._closed)
        try:
            yield active
        finally:
            del self._by_key[key]

    def in_flight(self) -> dict[Key, Progress]:
        """How far each run has come, now."""
        return {key: active.progress for key, active in self._by_key.items() if active.progress}

    def findings(self, kind: type[T]) -> dict[Key, T]:
        """What extensions publish of each run in flight."""
        found = {key: active.followed.finding(kind) for key, active in self._by_key.items()}
        return {key: each for key, each in found.items() if each is not None}

    def on_edited(self, key: Key) -> None:
        """The CR was edited or deleted: where the watch allows it, its run may be pointless now."""
        if (active := self._by_key.get(key)) is not None:
            active.edited.set()

    def cancel_of(self, is_meant: Callable[[Key], bool], reason: str) -> None:
        """End the runs in flight of these keys; their turns end as after any cancel."""
        for key, active in self._by_key.items():
            if is_meant(key):
                active.cancel(reason)

    def stop(self, key: Key, by: str) -> None:
        """A person asks for the end of this key's run; one that is being ended already goes on so."""
        active = self._by_key.get(key)
        if active is not None and not active.cancelled:
            active.is_stopped = True
            active.cancel(f"{one_line(by, _LONGEST_NAME)} asked for it")

    def lose(self, is_lost: Callable[[Key], bool], reason: str) -> int:
        """Another replica may act for these keys from now on: nothing of their runs goes on.

        Returns how many runs that were. All are stopped before the first is ended: that takes a while.
        """
        lost = [active for key, active in self._by_key.items() if is_lost(key)]
        for active in lost:
            active.freeze()
        for active in lost:
            active.cancel(reason)
        return sum(active.handle is not None for active in lost)

    def cancel_all(self, reason: str) -> None:
        """End all runs, and let none start any more."""
        self._closed = reason
        self.interrupt(reason)

    def interrupt(self, reason: str) -> None:
        """End the runs in flight; others may start later."""
        for active in self._by_key.values():
            active.cancel(reason)

    async def run(self, active: ActiveRun, due: DueRun) -> RunResult:
        async with AsyncExitStack() as stack:
            try:
                issuing = self._ports.access.issue_access(due.run_id, due.cr, due.watch)
                access = await stack.enter_async_context(issuing)
            except (OSError, RolecallError) as error:
                return _not_started(due, f"access to the API server could not be set up: {error}")
            if not self._ports.may_run():
                raise NotLeadingError("start a run")
            if active.cancelled:
                return RunResult(due.run_id, Ending.CANCELLED, None, reason_text=active.cancelled)
            asked = verbosity_of(due.cr, due.watch)
            request = replace(
                self._request(due, access, asked),
                slot=_SlotOfRun(active, self._ports),
                withheld=await self._withheld(active.key, due),
            )
            on_event = self._on_event_for(active, due, _or(asked, self._defaults.play_verbosity))
            active.progress = Progress.at_start(
                due.run_id, due.cause.text, self._ports.clock.now()
            ).within(request.timeout_s, request.no_progress_timeout_s)
            active.spoke_s = self._ports.clock.monotonic()
            stack.callback(active.forget_progress)
            active.followed = access.followed
            active.handle = await self._ports.runner.start(request, on_event)
            if active.cancelled:  # while it was starting
                active.handle.cancel(active.cancelled)
            async with self._cancelling_when_pointless(active, due):
                return await active.handle.result_before_tidying()

    def _request(self, due: DueRun, access: RunAccess, asked_verbosity: int | None) -> RunRequest:
        watch, defaults = due.watch, self._defaults
        return RunRequest(
            run_id=due.run_id,
            terms=terms_of(watch, is_finalizer=due.is_finalizer),
            cr=due.cr,
            is_finalizer=due.is_finalizer,
            kubeconfig=access.kubeconfig,
            cause=due.cause.text,
            missing_right=access.missing_right,
            seen_secrets=access.seen_secrets,
            verbosity=_or(asked_verbosity, watch.verbosity),
            keep_artifacts=kept_artifacts_of(due.cr, watch),
            timeout_s=_or(watch.run_timeout_s, defaults.timeout_s),
            no_progress_timeout_s=_or(watch.no_progress_timeout_s, defaults.no_progress_timeout_s),
            note_event=access.followed.event,
            leave_beside=lambda folder: _leave_beside(folder, due, access.followed),
        )

    async def _withheld(self, key: Key, due: DueRun) -> frozenset[str]:
        """Keys of spec that the play does not get; logged with each run, and an Event once."""
        found = await self._ports.spec_keys.withheld(
            due.watch, due.cr, is_finalizer=due.is_finalizer
        )
        if found.message:
            _logger.warning(
                "keys of spec were not passed", extra=key_fields(key, why=found.message)
            )
            self._ports.events.record(
                due.cr, kind=WARNING, reason="KeysWithheld", message=found.message
            )
        return found.keys

    def _on_event_for(self, active: ActiveRun, due: DueRun, verbosity: int) -> OnEvent:
        def on_event(event: RunEvent) -> None:
            active.follow(event, self._ports.clock)
            self._ports.plays.event(active.key, due.run_id, event, verbosity)

        return on_event

    @asynccontextmanager
    async def _cancelling_when_pointless(
        self, active: ActiveRun, due: DueRun
    ) -> AsyncIterator[None]:
        if not (due.watch.cancel_on_delete or due.watch.cancel_on_change):
            yield
            return
        watcher = asyncio.create_task(self._cancel_when_pointless(active, due), name="edits")
        try:
            yield
        finally:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    async def _cancel_when_pointless(self, active: ActiveRun, due: DueRun) -> None:
        while not active.cancelled:
            await active.edited.wait()
            active.edited.clear()
            try:
                reason = await self._why_pointless(active.key, due)
            except ClusterError as error:
                # Let the run go on: the CR is read again at its end anyway.
                _logger.debug(
                    "could not check whether an edit makes the current run obsolete",
                    extra=key_fields(active.key, error=error),
                )
                continue
            except Exception:  # a bug here must not become the result of the run
                _logger.exception(
                    "internal error: an edit during a run could not be handled",
                    extra=key_fields(active.key),
                )
                continue
            if reason:
                active.cancel(reason)

    async def _why_pointless(self, key: Key, due: DueRun) -> str:
        watch, known = due.watch, due.cr["metadata"]
        try:
            cr = await self._ports.cluster.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            cr = {"metadata": {}}
        now = cr["metadata"]
        if watch.cancel_on_delete and now.get("uid") != known.get("uid"):
            return "the object is gone"
        if due.is_finalizer:
            return ""
        if watch.cancel_on_delete and is_deleted(cr):
            return "the object is being deleted"
        if watch.cancel_on_change and now.get("generation") != known.get("generation"):
            return f"generation {now.get('generation')} replaces it"
        return ""


def _leave_beside(folder: Path, due: DueRun, followed: FollowedRun) -> None:
    """What is kept of a run beside its artifacts: what the CR asked for, and what extensions keep."""
    write_spec(folder, due.cr.get("spec"))
    followed.leave_beside(folder)


def _not_started(due: DueRun, reason: str) -> RunResult:
    return RunResult(due.run_id, Ending.NOT_STARTED, None, reason_text=reason)


def _or(value: T | None, default: D) -> T | D:
    return default if value is None else value
