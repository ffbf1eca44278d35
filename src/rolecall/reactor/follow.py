"""Follows one kind in one namespace, or in all: list, watch, reconnect, list again.

Promise: the listener is told every object of a list, when the list is complete, and every change
after it, in order; what happened while the stream was down shows in the next list. A stream that
falls silent (no event, no bookmark), breaks or grows too old is replaced. Refusals are told once
each and tried again with growing pauses, so a right that is granted later is found.

Used for dependents and CRDs. kopf follows the watched kinds (see `radio`); here it cannot serve,
because it can neither list metadata alone nor give up a kind that nobody asks for any more.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Protocol

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, GoneError, UnavailableError, WatchEvent
from rolecall.reactor.pauses import Pauses

Json = dict[str, Any]
_ITEMS_PER_TURN = 50  # of the loop; some 2 ms, where whole objects are digested
_logger = logging.getLogger(__name__)


class ListAgain(Exception):  # noqa: N818 - a wish, not an error
    """Raised by a listener that wants its objects in another form: begin anew at once."""


class Listener(Protocol):
    """Who is told."""

    @property
    def wants_metadata_only(self) -> bool:
        """What to ask for, read before each list."""
        ...

    def on_listed(self, item: Json) -> None:
        """One object of a list; a list begins after `on_list_begins`."""
        ...

    def on_list_begins(self) -> None:
        """What comes is everything there is."""
        ...

    def on_list_complete(self) -> None:
        """Everything was told: what was not, is not there."""
        ...

    def on_event(self, event: WatchEvent) -> None:
        """An object was added, modified or deleted."""
        ...

    def on_trouble(self, failure: ClusterError) -> None:
        """It does not work for now; told once until it works again."""
        ...


class Follow:
    """One stream."""

    def __init__(
        self,
        client: Client,
        gvk: Gvk,
        namespace: str,
        listener: Listener,
        *,
        clock: Clock,
        silence_s: float,
    ) -> None:
        self._client = client
        self._gvk = gvk
        self._namespace = namespace
        self._listener = listener
        self._silence_s = silence_s
        self._pauses = Pauses(clock)
        self._told = ""

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                version = await self._list()
                await self._watch(version)
            except ListAgain:
                continue
            except GoneError:
                _logger.debug("list expired", extra={"fields": {"kind": str(self._gvk)}})
            except ClusterError as failure:
                self._tell(failure)
            await self._pauses.next()

    async def _list(self) -> str:
        self._listener.on_list_begins()
        pages = self._client.pages(
            self._gvk, self._namespace, metadata_only=self._listener.wants_metadata_only
        )
        version = ""
        async for page in pages:
            version = page.resource_version
            for count, item in enumerate(page.items):
                if count % _ITEMS_PER_TURN == 0:
                    await asyncio.sleep(0)
                self._listener.on_listed(item)
        self._listener.on_list_complete()
        return version

    async def _watch(self, version: str) -> None:
        """Watch, from one stream to the next, for as long as nothing can have been missed."""
        while True:
            events = self._client.watch(
                self._gvk,
                self._namespace,
                resource_version=version,
                metadata_only=self._listener.wants_metadata_only,
                silence_s=self._silence_s,
            )
            heard = False
            try:
                async for event in events:
                    heard, self._told = True, ""
                    self._pauses.reset()
                    version = event.resource_version or version
                    if event.type != "BOOKMARK":
                        self._listener.on_event(event)
            except UnavailableError as failure:
                if failure.is_timeout:
                    raise  # silent: nothing about it is trusted, not even its version
                self._tell(failure)
            finally:
                await events.aclose()
            if not heard:  # a server that hangs up at once is not to be called at once
                await self._pauses.next()

    def _tell(self, failure: ClusterError) -> None:
        if failure.message != self._told:
            self._told = failure.message
            self._listener.on_trouble(failure)
