"""Server-sent events: which CRs changed, and how far a run has come.

Both are numbered, and both begin after the number that the reader names: by `Last-Event-ID` when
its browser connects again, by the page's own number before. So nothing is missed and nothing told
twice, also over a restart of the engine: of another engine's number, everything is told to be
looked at again.
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

_TOGETHER_S = 0.5  # what changes within it is told at once
_BEAT_S = 15.0  # something is said so often, so that a reader who went is noticed
_LOOK_S = 0.5  # at the files of a run in flight
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
                    await _report(response, "again", self._feed.position, {})
            while True:
                number = await self._reported_beyond(number, response, asker)
        return response

    async def run(self, request: web.Request, asker: Asker) -> web.StreamResponse:
        """Tasks of one run, until it has ended."""
        said = request.headers.get("Last-Event-ID") or request.query.get("after", "")
        counter = number_of(said)
        key, run = await self._lookup.run(request, asker)  # else refused before anything is sent
        async with self._stream(request, asker) as response:
            beat_s = self._clock.monotonic()
            while True:
                tasks = await self._lookup.tasks(run)
                if tasks.counter > counter:
                    counter = tasks.counter
                    beat_s = self._clock.monotonic()
                    await _report(response, "tasks", str(counter), {"count": len(tasks.tasks)})
                if run.outcome != "running":
                    await _report(response, "end", str(counter), {"outcome": run.outcome})
                    return response
                if self._clock.monotonic() - beat_s > _BEAT_S:
                    beat_s = self._clock.monotonic()
                    await _beat(response)
                await self._clock.sleep(_LOOK_S)
                await self._check(asker)
                run = await self._lookup.run_now(key, run, asker)
        return response

    async def _reported_beyond(
        self, number: int, response: web.StreamResponse, asker: Asker
    ) -> int:
        """Wait for a change after this number, tell it, and return the number that it had."""
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
        await self._table.rows()  # which says that somebody looks
        await self._lookup.turns.take()
        keys, now, position = self._feed.since(number), self._feed.number, self._feed.position
        if keys is None:
            await _report(response, "again", position, {})
            return now
        seen = await self._lookup.visible(keys, asker)
        if seen:
            reported = (
                [] if len(seen) > _MOST_NAMED else [places.of_cr(key) for key in sorted(seen)]
            )
            await _report(response, "changed", position, {"keys": reported})
        return now

    async def _check(self, asker: Asker) -> None:
        """Also while there is much to tell: whoever logged out, or lost his token, is told no more."""
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
                pass  # the reader went, or lost the right: asking again tells him why
            except Exception:  # a bug; an answer that has begun cannot become a page about it
                _logger.exception("internal error: a stream of the page ended: %s", request.path)
        finally:
            session.streams -= 1
            self._open -= 1


async def _beat(response: web.StreamResponse) -> None:
    await response.write(b": still there\n\n")


async def _report(response: web.StreamResponse, kind: str, position: str, data: object) -> None:
    text = f"event: {kind}\nid: {position}\ndata: {json.dumps(data)}\n\n"
    await response.write(text.encode())
