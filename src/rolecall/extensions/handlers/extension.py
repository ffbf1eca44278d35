"""Starts the process of handlers where this replica leads, and keeps it running."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

from rolecall.errors import ClusterError, Problem
from rolecall.extending import Act, BackgroundPart, Endpoints, EngineView, Extension, GiveVerdict
from rolecall.extensions.handlers.figures import HANDLER_METRICS, HandlerFigures
from rolecall.extensions.handlers.flags import HandlerFlags
from rolecall.extensions.handlers.keys import HandlersKeys
from rolecall.extensions.handlers.session import (
    CHANGED,
    HandlersEndedError,
    HandlersSession,
    PendingEnds,
    run_ended_message,
)
from rolecall.handler_files import KnownKind, check_handlers, handler_files
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.reconcile import EndedRun, Outcome, TakenTurn, TurnView
from rolecall.watches import Watch
from rolecall.webhooks import NoVerdictError, Webhook
from rolecall.workqueue import Key
from rolecall_base.file_stamp import Stamp, stamp_of

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_STOOD_S = 60.0  # after so long, its next end is the first again
_LOOK_S = 2.0
_MOST_ENDS = 1_000
_SPARE_S = 0.5  # before the API server gives up
_logger = logging.getLogger(__name__)
_Stamp = dict[Path, Stamp | None]


class HandlersExtension(Extension):
    name = "handlers"
    watch_keys = HandlersKeys
    metrics = HANDLER_METRICS

    def __init__(self, engine: EngineView, watches: Sequence[Watch]) -> None:
        super().__init__(engine)
        self._watches = watches
        self._flags = engine.settings.extension(HandlerFlags)
        self._figures = HandlerFigures(engine.metrics, engine.clock, engine.acted)
        asked = [(watch.gvk, watch.extension(HandlersKeys)) for watch in watches]
        self._keys = [(gvk, keys) for gvk, keys in asked if keys is not None]
        self._webhooks = _by_path(each for gvk, keys in self._keys for each in keys.webhooks(gvk))
        self._session: HandlersSession | None = None
        self._ready = asyncio.Event()
        self._ends: PendingEnds = PendingEnds()  # of runs that ended while no process was ready
        self._running: asyncio.Task[str] | None = None
        self._note = ""
        self._is_ending = False
        self._are_kinds_new = False  # a CRD came, changed or went

    @classmethod
    def begin(cls, engine: EngineView) -> Self | None:
        watches = [watch for watch in engine.watches if watch.extension(HandlersKeys) is not None]
        return cls(engine, watches) if watches else None

    @asynccontextmanager
    async def open(self, endpoints: Endpoints) -> AsyncIterator[None]:
        endpoints.notes["handlers"] = lambda: self._note
        try:
            yield
        finally:  # the webhook server is closed
            self._end()
            await self._until_ended()

    def parts(self) -> Mapping[str, BackgroundPart]:
        return {"process": self._keep}

    def on_leading_change(self) -> None:
        if self._webhooks or not self.engine.election.leads():
            self._end()  # to begin anew as one that acts, or as one that only answers

    def on_kinds_change(self) -> None:
        self._are_kinds_new = True

    def begin_end(self) -> None:
        self._is_ending = True
        if not self._webhooks:
            self._end()

    async def stop(self) -> None:
        if not self._webhooks:
            await self._until_ended()

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:  # noqa: ARG002
        if turn.watch.play:
            return None
        return Outcome(why="handlers alone act for it")

    async def run_ended(self, run: EndedRun) -> None:
        if run.watch not in self._watches or not self.engine.election.leads():
            return
        self._ends[run.cr["metadata"]["uid"]] = run_ended_message(run)
        if len(self._ends) > _MOST_ENDS:
            self._ends.popitem(last=False)
        if self._session is not None:
            self._session.send_ends()

    def reviewer(self, webhook: Webhook) -> GiveVerdict | None:
        return partial(self._review, webhook) if webhook.path in self._webhooks else None

    async def on_gone(self, key: Key) -> None:
        self._figures.forget(key)

    def acts(self) -> Mapping[Key, Sequence[Act]]:
        return self._figures.acts()

    async def _keep(self) -> None:
        """Where it leads; everywhere, if the API server asks handlers."""
        if self._webhooks:
            await self._while_wanted()
        else:
            await self.engine.election.while_leading(self._while_wanted)

    async def _while_wanted(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._is_over:
            stamp, kinds = self._stamp(), await self._kinds()
            if not kinds:
                self._note = "handlers wait for the CRDs of their kinds"
                await self.engine.clock.sleep(_LOOK_S)
                continue
            if not await self._is_fit(kinds):
                await self._wait_for_change(stamp)
                continue
            began = self.engine.clock.monotonic()
            why = await self._one_life(kinds, stamp)
            if self._is_over:
                return
            if self._session is not None and self._session.broken:
                self._note = self._session.broken
                await self._wait_for_change(stamp)
                continue
            if not why:  # it leads now, or another replica does
                continue
            if why == CHANGED:
                _logger.info("handlers are started anew, as their files or kinds changed")
                self._warn_of_new_webhooks()
                continue
            if self.engine.clock.monotonic() - began > _STOOD_S:
                pause_s = _FIRST_PAUSE_S
            self._note = f"the process of handlers ended: {why}"
            _logger.error(
                "the process of handlers ended, and is started again; roles go on",
                extra=log_fields(why=why, again_in_s=pause_s),
            )
            await self.engine.clock.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    @property
    def _is_over(self) -> bool:
        return self._is_ending or not (self._webhooks or self.engine.election.leads())

    async def _review(self, webhook: Webhook, review: Json) -> Json:
        """Waits for a process that is about to be ready, as long as the API server waits."""
        verb = "mutate" if webhook.is_mutating else "validate"
        try:
            async with asyncio.timeout(webhook.timeout_s - _SPARE_S):
                while True:
                    await self._ready.wait()
                    assert self._session is not None, "it is ready"
                    with suppress(HandlersEndedError):
                        return await self._session.review(verb, review)
        except TimeoutError:
            why = self._note or f"`{verb}` of handlers took longer than {webhook.timeout_s} s"
            raise NoVerdictError(why) from None

    async def _one_life(self, kinds: Sequence[tuple[Watch, KnownKind]], stamp: _Stamp) -> str:
        async def has_changed() -> bool:
            if self._are_kinds_new:
                self._are_kinds_new = False
                if await self._kinds() != kinds:
                    return True
            return self._stamp() != stamp

        self._note = ""
        self._session = HandlersSession(
            self.engine, kinds, self._figures, self._flags, self._ready, self._ends
        )
        living = self._session.run(has_changed)
        self._running = asyncio.create_task(living, name="handlers")
        try:
            await asyncio.wait({self._running})
        except asyncio.CancelledError:
            if not self._webhooks:  # else it goes on until the webhook server is closed
                self._end()
                await self._until_ended()
            raise
        return "" if self._running.cancelled() else self._running.result()

    def _end(self) -> None:
        """Once: what ends takes a moment, and must not be cancelled meanwhile."""
        if self._running is not None and not self._running.cancelling():
            self._running.cancel()

    def _warn_of_new_webhooks(self) -> None:
        now = _by_path(each for gvk, keys in self._keys for each in keys.as_now().webhooks(gvk))
        if now != self._webhooks:
            _logger.warning(
                "`on.validate` or `on.mutate` of the handlers changed, and the webhooks at the API"
                " server did not; restart the operator to register them"
            )

    async def _until_ended(self) -> None:
        if self._running is not None:
            await asyncio.wait({self._running})

    async def _is_fit(self, kinds: Sequence[tuple[Watch, KnownKind]]) -> bool:
        """Whether handlers may start; logs each problem of their files with its line."""
        asked: dict[Path, list[KnownKind]] = {}
        for watch, known in kinds:
            for file in watch.python_files:
                asked.setdefault(file, []).append(known)
        problems = await asyncio.to_thread(check_handlers, asked, Path.cwd())
        for problem in problems:
            _log_problem(problem)
        errors = [problem for problem in problems if not problem.is_warning]
        self._note = f"no handler runs: {errors[0].place}: {errors[0].what}" if errors else ""
        return not errors

    async def _kinds(self) -> list[tuple[Watch, KnownKind]]:
        """Those that the API server serves now."""
        found = []
        for watch in self._watches:
            try:
                resource = await self.engine.client.discovery.by_gvk(watch.gvk)
            except ClusterError:
                continue
            found.append((watch, KnownKind(watch.gvk, resource.names)))
        return found

    async def _wait_for_change(self, stamp: _Stamp) -> None:
        while self._stamp() == stamp:
            await self.engine.clock.sleep(_LOOK_S)

    def _stamp(self) -> _Stamp:
        """All files, as they are now."""
        paths = [path for watch in self._watches for path in watch.python_files]
        return {file: stamp_of(file) for file in handler_files(paths)}


def _by_path(webhooks: Iterable[Webhook]) -> dict[str, Webhook]:
    return {webhook.path: webhook for webhook in webhooks}


def _log_problem(problem: Problem) -> None:
    level = logging.WARNING if problem.is_warning else logging.ERROR
    what = problem.what if problem.is_warning else f"{problem.what}; no handler runs, roles go on"
    _logger.log(level, "%s", what, extra=log_fields(place=problem.place, way_out=problem.hint))
