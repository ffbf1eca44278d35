"""One watch whose kind comes and goes, by a clock that stands: only word of the CRD ends a pause."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web

from rolecall.reactor import Reactor, SyncState
from rolecall.supervisor import Supervisor
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import Keys, Roll, watch
from tests.unit.reactor.small_server import APP, app, small_server
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_kind_is_followed_at_the_word_of_its_crd_however_long_discovery_was_wrong(
    tmp_path: Path,
) -> None:
    lists = 0

    def path_is_missing(request: web.Request) -> web.StreamResponse | None:
        nonlocal lists
        if not request.path.endswith("/apps"):
            return None
        lists += 1
        return web.Response(status=404, text="404 page not found")

    keys = Keys()
    async with small_server(tmp_path) as (server, client):
        server.objects["apps"] = [app("a")]
        server.instead = path_is_missing
        supervisor = Supervisor(VirtualClock())
        reactor = Reactor([watch(APP)], client, keys, Roll(), supervisor=supervisor)
        running = asyncio.create_task(reactor.run())
        for attempts in range(1, 4):
            await eventually_async(lambda: lists, attempts.__le__)
            await eventually_async(lambda: reactor.states[APP] is SyncState.NO_SUCH_KIND)
            reactor.on_crd_change(APP.group)
        server.instead = lambda _: None
        reactor.on_crd_change(APP.group)
        await eventually_async(lambda: keys.names == ["a"])
        assert reactor.states[APP] is SyncState.SYNCED
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
