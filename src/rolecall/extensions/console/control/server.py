"""The engine's end of the control socket: HTTP, since every language and `curl` speak it.

    GET  /v1/state              what the engine is at
    GET  /v1/state?watch=1      the same, a line each time it changes
    GET  /v1/shards             which replica has which part of the CRs
    GET  /v1/page               where its page answers, with what lets one in
    POST /v1/reconcile          run a CR at once, past its backoff
    POST /v1/stop               end the run of a CR that is in flight

Only the engine's own user can open the socket (`sockets`), so requests need no further authentication.
The state is put together for each request; without requests, this costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

from aiohttp import web

from rolecall.extending import EnginePorts, LastRuns, by_key
from rolecall.extensions.console.control.requests import (
    RequestRefused,
    keys_of,
    own_of,
    run_in_flight,
    text_of,
)
from rolecall.extensions.console.control.sockets import listening
from rolecall.extensions.console.control.state import Wall, snapshot
from rolecall.extensions.console.division import KeyHolders, shards_json
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.workqueue import PERSON, Key

# A state at most so often, and again after so long though nothing changed: a reader that gets nothing
# for longer has lost its engine.
SHORTEST_PAUSE_S = 0.25
LONGEST_SILENCE_S = 10.0
# A state of many CRs takes longer to put together; that is then done less often.
_PAUSES_PER_WORK = 20
_LARGEST_REQUEST = 64 * 1024
_LONGEST_NAME = 200

_logger = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def served_control(
    root: Path, ports: EnginePorts, last_runs: LastRuns, *, page: str = ""
) -> AsyncIterator[Path | None]:
    """Serve while the context lasts; yields where, or None where the folder can have no socket.

    `page`: its address. An engine works without the socket; the log says what is missing.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            listener, path = stack.enter_context(listening(root))
        except OSError as error:
            fields = log_fields(folder=str(root), why=error.strerror or str(error))
            _logger.warning(
                "no control socket, so `rolecall status` cannot reach this operator", extra=fields
            )
            yield None
            return
        app = _Control(ports, last_runs, page).app()
        # A watcher that goes ends its handler: else it would go on until it has something to say.
        runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listener).start()
        yield path


class _Control:
    def __init__(self, ports: EnginePorts, last_runs: LastRuns, page: str) -> None:
        self._ports, self._last_runs, self._page = ports, last_runs, page
        self._wall = Wall(ports.clock)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_LARGEST_REQUEST)
        app.router.add_get("/v1/state", self._answer_state)
        app.router.add_get("/v1/shards", self._answer_shards)
        app.router.add_get("/v1/page", self._answer_page)
        app.router.add_post("/v1/reconcile", self._answer_reconcile)
        app.router.add_post("/v1/stop", self._answer_stop)
        return app

    async def _answer_state(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") not in (None, "", "0"):
            return await self._stream(request)
        return web.Response(text=await self._state(), content_type="application/json")

    async def _answer_page(self, _request: web.Request) -> web.Response:
        return web.json_response({"address": self._page})

    async def _answer_shards(self, _request: web.Request) -> web.Response:
        """Null where one replica has all CRs."""
        division = self._ports.division
        shards = shards_json(division.look(), self._ports.clock.now()) if division else None
        return web.json_response({"shards": shards})

    async def _state(self) -> str:
        taken = snapshot(self._ports, self._wall)
        return await asyncio.to_thread(lambda: json.dumps(taken.as_json(self._last_runs)))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/jsonlines"})
        await response.prepare(request)
        clock, last, said_at = self._ports.clock, "", float("-inf")
        with contextlib.suppress(ConnectionError):  # the reader went
            while True:
                began = clock.monotonic()
                state = await self._state()
                took_s = clock.monotonic() - began
                if state != last or began - said_at >= LONGEST_SILENCE_S:
                    last, said_at = state, began
                    await response.write(f"{state}\n".encode())
                await clock.sleep(max(SHORTEST_PAUSE_S, took_s * _PAUSES_PER_WORK))
        return response

    async def _answer_reconcile(self, request: web.Request) -> web.Response:
        ports = self._ports
        try:
            asked = await self._read(request)
            known = await asyncio.to_thread(by_key, ports.known())
            keys = self._keys(asked, known)
        except RequestRefused as refusal:
            return _error(refusal.code, refusal.message)
        for key in keys:
            ports.reconcile(key, PERSON)
        paused = [str(key) for key in keys if known[key].is_paused]
        _logger.info("reconcile asked for by a person", extra=log_fields(count=len(keys)))
        return web.json_response({"keys": list(map(str, keys)), "paused": paused}, status=202)

    async def _answer_stop(self, request: web.Request) -> web.Response:
        """A CR that is gone may still have a run in flight."""
        ports = self._ports
        try:
            asked = await self._read(request)
            known = await asyncio.to_thread(by_key, ports.known())
            keys = self._keys(asked, known.keys() | ports.in_flight().keys())
            if len(keys) != 1 or asked.get("all") is True:
                raise RequestRefused(400, "name one CR")
            run = run_in_flight(keys[0], ports.in_flight(), text_of(asked, "run"))
        except RequestRefused as refusal:
            return _error(refusal.code, refusal.message)
        by = text_of(asked, "by")[:_LONGEST_NAME] or "a person"
        ports.stop(keys[0], by)
        fields = log_fields(key=str(keys[0]), run=run.run_id, by=by)
        _logger.info("stop of a run asked for by a person", extra=fields)
        stopped = {"key": str(keys[0]), "run": run.run_id, "task": run.task, "place": run.place}
        return web.json_response(stopped, status=202)

    async def _read(self, request: web.Request) -> Json:
        try:
            asked = json.loads(await request.read())
        except ValueError:
            raise RequestRefused(400, "the body is not JSON") from None
        if not self._ports.leads():
            raise RequestRefused(409, _why_not(self._ports))
        if not isinstance(asked, dict):
            raise RequestRefused(400, "the body is not a JSON object")
        return asked

    def _keys(self, asked: Json, known: Collection[Key]) -> list[Key]:
        keys = keys_of(asked, known)
        if self._ports.division is not None:
            keys = own_of(asked, keys, KeyHolders(self._ports.division))
        return keys


def _why_not(ports: EnginePorts) -> str:
    if ports.division is not None:
        why = ports.division.look().why_not or "its Lease was not renewed in time"
        return f"this replica works on no CR now: {why}"
    leader = ports.leader()
    who = f"`{leader}` does" if leader else "another one does"
    return f"this replica does not lead; {who}, so ask there"


def _error(code: int, message: str) -> web.Response:
    body: dict[str, Any] = {"error": message}
    return web.json_response(body, status=code)
