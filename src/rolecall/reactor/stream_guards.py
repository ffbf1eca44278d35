"""Lists and watches of one kind in one namespace, or in all, checked for whichever loop asks for them.

Promise: each refusal is reported once and retried with growing pauses, so a right that is granted later
is found. A stream that fell silent is not trusted, not even its version.

An API server that was restored from an older state says nothing of it: a watch from a version that it
has not reached yet is accepted, and what happens until it is reached is not reported. So versions
are compared: of each event, of each list, and before a stream is continued. What went back is listed
again. One list may come from a server that lags behind another; where they stay behind, the history is
lost, and the handler must forget it: an edit may bring the generation that another edit had. Rejected:
to rely on the silence of the stream, since bookmarks break it.

For CRs, kopf asks (`kopf_stream.py`); for dependents, reads and CRDs, `informer.py`.
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
from rolecall.reactor.ports import InformerHandler

_ITEMS_BETWEEN_YIELDS = 50  # to the loop; some 2 ms, where whole objects are digested
# So many lists in a row, some three seconds of them: no server of a healthy cluster lags for longer.
_OLDER_LISTS_BELIEVED = 5
_logger = logging.getLogger(__name__)


class OlderStateError(Exception):
    """The server reports a state before what it reported already."""


class StreamGuards:
    """Lists and watches one kind in one namespace, or in all."""

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
        # For handlers that must not compare what comes with what they knew.
        self.on_history_lost: Callable[[], None] = lambda: None
        # Narrows it down; of one object alone, a right that names it is enough.
        self.field_selector = ""
        self.handler = handler
        self.pauses = Pauses(clock)
        self._client = client
        self._gvk = gvk
        self._namespace = namespace
        self._silence_s = silence_s
        self._reported = ""
        self._newest = 0  # version
        self._older_lists = 0  # in a row

    def continue_after(self, earlier: StreamGuards) -> None:
        """What that one reported is known to the handler, so nothing older is believed."""
        self._newest = earlier._newest

    async def list(self) -> str:
        """Hand every object to the handler; the version that a stream can begin from."""
        self.handler.on_list_begins()
        pages = self._client.pages(
            self._gvk,
            self._namespace,
            field_selector=self.field_selector,
            metadata_only=self.handler.wants_metadata_only,
        )
        version = ""
        async for page in pages:
            if not version:
                self._check_list(page.resource_version)
            version = page.resource_version
            for count, item in enumerate(page.items):
                if count % _ITEMS_BETWEEN_YIELDS == 0:
                    await asyncio.sleep(0)
                self.handler.on_listed(item)
        self.handler.on_list_complete()
        self.handler.on_synced(True)
        return version

    async def events(self, version: str, *, continues: bool) -> AsyncGenerator[WatchEvent]:
        """One stream; it ends where it can be continued, after a pause where that is due.

        `continues`: from where an earlier stream ended, which the server may not know any more.
        """
        works = False
        try:
            if continues:
                now = await self._client.current_version(
                    self._gvk, self._namespace, field_selector=self.field_selector
                )
                self._check(now)
            stream = self._client.watch(
                self._gvk,
                self._namespace,
                resource_version=version,
                field_selector=self.field_selector,
                metadata_only=self.handler.wants_metadata_only,
                silence_s=self._silence_s,
            )
            async with aclosing(stream) as events:
                async for event in events:
                    self._check(event.resource_version)
                    works, self._reported = True, ""
                    self.pauses.reset()
                    self.handler.on_synced(True)
                    yield event
        except UnavailableError as failure:
            if failure.is_timeout:
                raise  # silent: nothing about it is trusted, not even its version
            self._report(failure)
            self.handler.on_synced(False)
            works = False
        if not works:  # a server that hangs up, or talks nonsense, is not to be called at once
            await self.pauses.wait()

    async def lose(self, failure: OlderStateError | ClusterError) -> None:
        """A list has to begin anew, after a pause."""
        if isinstance(failure, OlderStateError | GoneError):
            fields = log_fields(kind=str(self._gvk), version=self._newest)
            _logger.debug("the API server has no history since this version", extra=fields)
        else:
            self._report(failure)
        self.handler.on_synced(False)
        await self.pauses.wait()

    def _check(self, version: str) -> None:
        """Record a version; one before the newest is of another history, or of a server that lags."""
        number = int(version) if version.isdecimal() else self._newest
        if number < self._newest:
            raise OlderStateError
        self._newest = number

    def _check_list(self, version: str) -> None:
        """The same of a list, which is believed at last."""
        try:
            self._check(version)
        except OlderStateError:
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

    def _report(self, failure: ClusterError) -> None:
        if failure.message != self._reported:
            self._reported = failure.message
            self.handler.on_trouble(failure)


async def awaited_kind(
    client: Client, gvk: Gvk, pauses: Pauses, on_trouble: Callable[[ClusterError], None]
) -> Resource:
    """A kind as the server has it, however long that takes; each reason to wait is reported once."""
    reported = ""
    while True:
        try:
            return await client.resource_for(gvk)
        except ClusterError as failure:
            if failure.message != reported:
                reported = failure.message
                on_trouble(failure)
        await pauses.wait()
