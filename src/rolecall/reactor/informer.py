"""Follows one kind in one namespace, or in all: list, watch, reconnect, list again.

Promise: the handler is told every object of a list, when the list is complete, and every change after
it, in order; what happened while the stream was down shows in the next list. A stream that falls
silent (no event, no bookmark), breaks or grows too old is replaced. Each refusal is told once and
tried again with growing pauses, so a right that is granted later is found.

An API server that was restored from an older state says nothing of it: a watch from a version that it
has not reached yet is accepted, and what happens until it is reached is told to nobody. So versions are
compared: of each event, of each list, and before a stream is taken up again. What went back is listed
again. One list may come from a server that lags behind another; where they stay behind, the history
that was told is lost, and whoever keeps what it knew must forget it: an edit may bring the generation
that another edit had. Rejected: to rely on the silence of the stream, since bookmarks break it.

CRs, their dependents and CRDs are all followed this way, on the loop of the engine: a kind costs a
connection, and no thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, GoneError, Resource, UnavailableError, WatchEvent
from rolecall.log_fields import log_fields
from rolecall.reactor.pauses import Pauses
from rolecall.reactor.ports import InformerHandler, ListAgain

_ITEMS_BETWEEN_YIELDS = 50  # to the loop; some 2 ms, where whole objects are digested
# So many lists in a row, some three seconds of them: no server of a healthy cluster lags for longer.
_OLDER_LISTS_BELIEVED = 5
_logger = logging.getLogger(__name__)


class _OlderStateError(Exception):
    """The server tells of a time before what it told already."""


class Informer:
    """Follows one kind in one namespace, or in all."""

    def __init__(
        self,
        client: Client,
        gvk: Gvk,
        namespace: str,
        handler: InformerHandler,
        *,
        clock: Clock,
        silence_s: float,
    ) -> None:
        # For who must not compare what comes with what it knew.
        self.on_history_lost: Callable[[], None] = lambda: None
        # Narrows it down; of one object alone, a right that names it is enough.
        self.field_selector = ""
        self._client = client
        self._gvk = gvk
        self._namespace = namespace
        self._handler = handler
        self._silence_s = silence_s
        self._pauses = Pauses(clock)
        self._told = ""
        self._newest = 0  # version that was told
        self._older_lists = 0  # in a row

    def goes_on_after(self, earlier: Informer) -> None:
        """What that one was told is known to the handler, so nothing older is believed."""
        self._newest = earlier._newest

    async def run(self) -> None:
        """Follow until cancelled; whatever else ends it, the handler knows that it misses changes."""
        try:
            while True:
                await self._list_and_watch()
        finally:
            self._handler.on_synced(False)

    async def _list_and_watch(self) -> None:
        try:
            version = await self._list()
            await self._watch(version)
        except ListAgain:
            return
        except _OlderStateError:
            _logger.debug(
                "the API server tells of an older state, listing again",
                extra=log_fields(kind=str(self._gvk), version=self._newest),
            )
        except GoneError:
            _logger.debug(
                "the list took too long, starting over", extra=log_fields(kind=str(self._gvk))
            )
        except ClusterError as failure:
            self._tell(failure)
        self._handler.on_synced(False)
        await self._pauses.wait()

    async def _list(self) -> str:
        self._handler.on_list_begins()
        pages = self._client.pages(
            self._gvk,
            self._namespace,
            field_selector=self.field_selector,
            metadata_only=self._handler.wants_metadata_only,
        )
        version = ""
        async for page in pages:
            if not version:
                self._check_list(page.resource_version)
            version = page.resource_version
            for count, item in enumerate(page.items):
                if count % _ITEMS_BETWEEN_YIELDS == 0:
                    await asyncio.sleep(0)
                self._handler.on_listed(item)
        self._handler.on_list_complete()
        self._handler.on_synced(True)
        return version

    async def _watch(self, version: str) -> None:
        """Watch, from one stream to the next, for as long as nothing can have been missed."""
        is_first = True
        while True:
            works = False
            try:
                if not is_first:
                    self._check(await self._current_version())
                is_first = False
                async with aclosing(self._events_from(version)) as events:
                    async for event in events:
                        self._check(event.resource_version)
                        works, self._told = True, ""
                        self._pauses.reset()
                        self._handler.on_synced(True)
                        version = event.resource_version or version
                        if event.type != "BOOKMARK":
                            self._handler.on_event(event)
            except UnavailableError as failure:
                if failure.is_timeout:
                    raise  # silent: nothing about it is trusted, not even its version
                self._tell(failure)
                self._handler.on_synced(False)
                works = False
            if not works:  # a server that hangs up, or talks nonsense, is not to be called at once
                await self._pauses.wait()

    def _events_from(self, version: str) -> AsyncGenerator[WatchEvent]:
        return self._client.watch(
            self._gvk,
            self._namespace,
            resource_version=version,
            field_selector=self.field_selector,
            metadata_only=self._handler.wants_metadata_only,
            silence_s=self._silence_s,
        )

    async def _current_version(self) -> str:
        return await self._client.current_version(
            self._gvk, self._namespace, field_selector=self.field_selector
        )

    def _check(self, version: str) -> None:
        """Note a version; one before the newest is of another history, or of a server that lags."""
        number = int(version) if version.isdecimal() else self._newest
        if number < self._newest:
            raise _OlderStateError
        self._newest = number

    def _check_list(self, version: str) -> None:
        """The same of a list, which is believed at last."""
        try:
            self._check(version)
        except _OlderStateError:
            self._older_lists += 1
            if self._older_lists < _OLDER_LISTS_BELIEVED:
                raise
            _logger.warning(
                "the API server was set back to an older state, so every object counts as new",
                extra=log_fields(
                    kind=str(self._gvk), version=int(version), version_before=self._newest
                ),
            )
            self._newest = int(version)
            self.on_history_lost()
        self._older_lists = 0

    def _tell(self, failure: ClusterError) -> None:
        if failure.message != self._told:
            self._told = failure.message
            self._handler.on_trouble(failure)


async def awaited_kind(
    client: Client, gvk: Gvk, pauses: Pauses, on_trouble: Callable[[ClusterError], None]
) -> Resource:
    """A kind as the server has it, however long that takes; each reason to wait is told once."""
    told = ""
    while True:
        try:
            return await client.resource_for(gvk)
        except ClusterError as failure:
            if failure.message != told:
                told = failure.message
                on_trouble(failure)
        await pauses.wait()
