"""Server-sent events: which CRs changed, and how far a run has come.

Both are numbered, and both begin after the number that the client sends: in `Last-Event-ID` when the
browser reconnects, else the number of the page. So no event is lost or sent twice, also over a restart
of the engine: a client that sends the number of another engine must load everything again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator

from aiohttp import web

from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.access import TooManyError
from rolecall.extensions.console.page.answers import number_of
from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.extensions.console.page.guard import Asker, Guard, RefusedError
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.table import Table

_TOGETHER_S = 0.5  # changes within it are sent as one event
_BEAT_S = 15.0  # the interval of heartbeats, which find closed connections
_LOOK_S = 0.5  # at the files of a run in flight
_GROWS_S = 2.0  # its axis and its requests, also where no task begins or ends
_MOST_OF_A_SESSION, _MOST = 6, 200
_MOST_NAMED = 200
_logger = logging.getLogger(__name__)


class PageStreams:
    def __init__(self, lookup: Lookup, guard: Guard, table: Table, feed: ChangeFeed) -> None:
        self._lookup, self._guard, self._table, self._feed = lookup, guard, table, feed
        self._clock = table.clock
        self._open = 0

    async def crs(self, request: web.Request, asker: Asker) -> web.StreamResponse:
        """Changes of CRs."""
        said = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        await self._table.rows()
        async with self._stream(request, asker) as response:
            number = self._feed.number_at(said)
            if number is None:
                number = self._feed.number
                if said:
                    await _send(response, "again", self._feed.position, {})
            while True:
                number = await self._send_changes_after(number, response, asker)
        return response

    async def run(self, request: web.Request, asker: Asker) -> web.StreamResponse:
        """Tasks of one run, until it has ended."""
        said = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        counter = number_of(said)
        key, run = await self._lookup.run(request, asker)  # else refused before anything is sent
        async with self._stream(request, asker) as response:
            sent_s, is_due = self._clock.monotonic(), False
            while True:
                tasks = await self._lookup.tasks(run)
                if tasks.counter > counter or is_due:
                    counter, sent_s = max(counter, tasks.counter), self._clock.monotonic()
                    await _send(response, "tasks", str(counter), {"count": len(tasks.tasks)})
                if run.outcome != "running":
                    await _send(response, "end", str(counter), {"outcome": run.outcome})
                    return response
                await self._clock.sleep(_LOOK_S)
                await self._check(asker)
                run = await self._lookup.run_now(key, run, asker)
                is_due = self._clock.monotonic() - sent_s > _GROWS_S
        return response

    async def _send_changes_after(
        self, number: int, response: web.StreamResponse, asker: Asker
    ) -> int:
        """Wait for a change after this number, send it, and return its number."""
        try:
            async with asyncio.timeout(_BEAT_S):
                await self._feed.wait_beyond(number)
        except TimeoutError:
            await self._check(asker)
            await _beat(response)
            await self._table.rows()
            return number
        await self._clock.sleep(_TOGETHER_S)
        await self._check(asker)
        await self._table.rows()  # which marks the table as in use
        await self._lookup.turns.take()
        keys, now, position = self._feed.since(number), self._feed.number, self._feed.position
        if keys is None:
            await _send(response, "again", position, {})
            return now
        seen = await self._lookup.visible(keys, asker)
        if seen:
            named = [] if len(seen) > _MOST_NAMED else [places.of_cr(key) for key in sorted(seen)]
            await _send(response, "changed", position, {"keys": named})
        return now

    async def _check(self, asker: Asker) -> None:
        """Stop also a busy stream when its reader has logged out or his token has become invalid."""
        if not await self._guard.is_still_in(asker):
            raise RefusedError(401, "The session is over", "Log in again.")

    @contextlib.asynccontextmanager
    async def _stream(
        self, request: web.Request, asker: Asker
    ) -> AsyncIterator[web.StreamResponse]:
        session = asker.session
        if session.streams >= _MOST_OF_A_SESSION or self._open >= _MOST:
            raise TooManyError(_BEAT_S)
        session.streams += 1
        self._open += 1
        try:
            response = web.StreamResponse(
                headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
            )
            Guard.headers(response)
            await response.prepare(request)
            try:
                yield response
            except (ConnectionError, RefusedError, TooManyError):
                pass  # the reader disconnected or lost access: his next request shows why
            except Exception:  # a bug; an answer that has begun cannot become a page about it
                _logger.exception("internal error: a stream of the page ended: %s", request.path)
        finally:
            session.streams -= 1
            self._open -= 1


async def _beat(response: web.StreamResponse) -> None:
    await response.write(b": still there\n\n")


async def _send(response: web.StreamResponse, kind: str, position: str, data: object) -> None:
    text = f"event: {kind}\nid: {position}\ndata: {json.dumps(data)}\n\n"
    await response.write(text.encode())
