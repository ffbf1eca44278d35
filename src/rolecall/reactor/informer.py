"""Follows one kind in one namespace, or in all: list, watch, reconnect, list again.

Promise: the handler gets every object of a list, is called when the list is complete, and gets every
change after it, in order; what happened while the stream was down shows in the next list. A stream that
falls silent (no event, no bookmark), breaks or grows too old is replaced; see `stream_guards`.

Dependents, reads and CRDs are followed this way, on the loop of the engine: a kind costs a connection,
and no thread. kopf, which follows CRs, would keep 1 KB for every Pod of a cluster.
"""

from __future__ import annotations

from contextlib import aclosing

from rolecall.errors import ClusterError
from rolecall.reactor.ports import ListAgain
from rolecall.reactor.stream_guards import OlderStateError, StreamGuards


class Informer(StreamGuards):
    """Follows one kind in one namespace, or in all."""

    async def run(self) -> None:
        """Follow until cancelled; whatever else ends it, the handler knows that it misses changes."""
        try:
            while True:
                await self._list_and_watch()
        finally:
            self.handler.on_synced(False)

    async def _list_and_watch(self) -> None:
        try:
            version = await self.list()
            continues = False
            while True:
                async with aclosing(self.events(version, continues=continues)) as events:
                    async for event in events:
                        version = event.resource_version or version
                        if event.type != "BOOKMARK":
                            self.handler.on_event(event)
                continues = True
        except ListAgain:
            return
        except (OlderStateError, ClusterError) as failure:
            await self.lose(failure)
