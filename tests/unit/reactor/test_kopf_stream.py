"""kopf follows CRs for us and does nothing else: what it would do of its own accord is kept from it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from rolecall.kube import Resource
from rolecall.lifecycle import Stop, signals_asking, take_signals
from rolecall.reactor import Reactor, SyncState
from rolecall.reactor.kopf_stream import _Session
from rolecall.workqueue import DELETION, SET_BACK
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import APP, Keys, Roll, watch
from tests.unit.reactor.small_server import SmallServer, app, small_server


@asynccontextmanager
async def following(
    folder: Path, keys: Keys, **options: Any
) -> AsyncIterator[tuple[SmallServer, Reactor]]:
    async with small_server(folder) as (server, client):
        server.objects["apps"] = [app("a")]
        reactor = Reactor([watch(APP)], client, keys, Roll(), **options)
        running = asyncio.create_task(reactor.run())
        try:
            yield server, reactor
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_kopf_reads_lists_and_streams_of_its_kind_and_nothing_else(tmp_path: Path) -> None:
    keys, requests = Keys(), list[tuple[str, str]]()
    async with following(tmp_path, keys) as (server, _):
        server.instead = lambda request: requests.append((request.method, request.path))
        left = {"finalizers": ["kopf.zalando.org/KopfFinalizerMarker"]}
        await eventually_async(lambda: "apps" in server.watched)
        server.has_happened("apps", "MODIFIED", app("a", **left, resourceVersion="8"))
        server.has_happened("apps", "ADDED", app("b", **left, resourceVersion="9"))
        await eventually_async(lambda: "b" in keys.names)
    assert {method for method, _ in requests} == {"GET"}
    assert {path.rpartition("/")[2] for _, path in requests} <= {
        "apps",
        "customresourcedefinitions",
        "v1",
    }


async def test_write_by_kopf_is_refused_and_ends_its_operator() -> None:
    session = _Session(Resource(APP, "apps", namespaced=True), {})
    path = "https://cluster/apis/demo.example.com/v1/namespaces/shop/apps/a"
    request = asyncio.create_task(session.request("patch", path, json={"metadata": {}}))
    with pytest.raises(PermissionError, match="kopf may only read, not PATCH /apis/demo"):
        await session.ended
    assert not request.done()
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)


async def test_sigterm_still_asks_the_engine_to_stop(tmp_path: Path) -> None:
    stop, keys = Stop(), Keys()
    with signals_asking(stop):
        retake = partial(take_signals, stop)
        async with following(tmp_path, keys, retake_signals=retake) as (_, reactor):
            await eventually_async(lambda: reactor.is_synced)
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(stop.asked.wait(), 10)
            assert not stop.hurried.is_set()
            assert reactor.states[APP] is SyncState.SYNCED


async def test_without_signals_of_an_engine_python_keeps_its_own(tmp_path: Path) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    async with following(tmp_path, Keys()) as (_, reactor):
        await eventually_async(lambda: reactor.is_synced)
        assert [signal.getsignal(number) for number in numbers] == before


async def test_operator_that_is_cancelled_while_it_starts_leaves_no_task(tmp_path: Path) -> None:
    async with small_server(tmp_path) as (server, client):
        server.objects["apps"] = [app("a")]
        await client.list_all(APP)
        before = asyncio.all_tasks()
        for turns in range(60):
            reactor = Reactor([watch(APP)], client, Keys(), Roll())
            running = asyncio.create_task(reactor.run())
            for _ in range(turns):
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            left = asyncio.all_tasks() - before
            assert not [task for task in left if "kopf" in repr(task.get_coro())]


async def test_end_of_an_operator_leaves_no_kill_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, later = asyncio.get_running_loop(), list[Any]()
    call_later = loop.call_later

    def noted(delay: float, callback: Any, *arguments: Any, **rest: Any) -> Any:
        later.append(callback)
        return call_later(delay, callback, *arguments, **rest)

    monkeypatch.setattr(loop, "call_later", noted)
    async with following(tmp_path, Keys()) as (_, reactor):
        await eventually_async(lambda: reactor.is_synced)
    assert later
    assert signal.pthread_kill not in later


def test_client_library_that_kopf_would_import_is_left_out() -> None:
    code = (
        "import rolecall.reactor, sys; print(sorted({'kopf', 'kubernetes'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['kopf']\n"


async def test_server_that_hangs_up_at_once_is_not_called_in_a_rush(tmp_path: Path) -> None:
    """kopf alone asked some 1,600 times a second."""
    async with following(tmp_path, Keys()) as (server, reactor):
        server.instead = lambda request: (
            web.Response(content_type="application/json") if "watch" in request.query else None
        )
        await eventually_async(lambda: reactor.is_synced)
        began = asyncio.get_running_loop().time()
        await eventually_async(lambda: server.watched.count("apps") >= 5)
        # 0.1, 0.2, 0.4 and 0.8 s lie between them, a fifth less at most.
        assert asyncio.get_running_loop().time() - began > 1.2


@pytest.mark.parametrize(
    "odd",
    [
        {"status": 403, "text": "no"},
        {"text": "<html></html>", "content_type": "text/html"},
        {"body": b'{"type": "ADDED", "obj\n', "content_type": "application/json"},
    ],
    ids=["refused", "page", "half a line"],
)
async def test_kopf_logs_nothing_about_faults_that_we_report(
    tmp_path: Path, odd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    keys = Keys()
    async with following(tmp_path, keys) as (server, _):
        server.instead = lambda request: (
            web.Response(**odd) if request.path.endswith("/apps") else None
        )
        await eventually_async(lambda: "cannot watch" in caplog.text, timeout_s=30)
        server.instead = lambda _: None
        await eventually_async(lambda: "a" in keys.names, timeout_s=30)
    assert [each.name for each in caplog.records if each.name.startswith("kopf")] == []


async def test_cr_that_went_while_the_history_was_compacted_is_noticed(tmp_path: Path) -> None:
    gone = b'{"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}\n'
    keys = Keys()
    async with following(tmp_path, keys) as (server, reactor):
        await eventually_async(lambda: "apps" in server.watched)
        assert reactor.known()[APP].keys() == {("shop", "a")}
        server.objects["apps"] = [app("b")]
        server.news["apps"].put_nowait(gone)
        await eventually_async(lambda: keys.names, lambda names: names == ["a", "b", "a"])
        assert keys.causes[-1] == DELETION.text
        assert reactor.known()[APP].keys() == {("shop", "b")}


async def test_store_that_was_set_back_brings_every_cr_anew(tmp_path: Path) -> None:
    older = {"kind": "List", "metadata": {"resourceVersion": "3"}, "items": [app("a")]}
    keys = Keys()

    def set_back(request: web.Request) -> web.StreamResponse | None:
        if not request.path.endswith("/apps"):
            return None
        if "watch" not in request.query:
            return web.json_response(older)
        return web.Response(content_type="application/json")  # as if it restarted

    async with following(tmp_path, keys) as (server, _):
        await eventually_async(lambda: "apps" in server.watched)
        server.instead = set_back
        server.has_happened("apps", "ADDED", app("b", resourceVersion="2"))  # the stream ends
        await eventually_async(lambda: SET_BACK.text in keys.causes, timeout_s=60)
        assert keys.names[-1] == "a"


async def test_events_that_came_before_a_list_reach_the_handler_before_it(tmp_path: Path) -> None:
    """Else an object that the list does not name any more would be known again."""
    gone = b'{"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}\n'
    names = [f"short-{number}" for number in range(200)]
    keys = Keys()
    async with following(tmp_path, keys) as (server, reactor):
        await eventually_async(lambda: "apps" in server.watched)
        for number, name in enumerate(names):
            server.has_happened("apps", "ADDED", app(name, resourceVersion=str(10 + number)))
        server.objects["apps"] = []
        server.news["apps"].put_nowait(gone)
        server.instead = lambda request: (
            web.json_response({"metadata": {"resourceVersion": "900"}, "items": []})
            if request.path.endswith("/apps") and "watch" not in request.query
            else None
        )
        await eventually_async(lambda: reactor.known()[APP], lambda known: not known)
        assert sorted(keys.names) == sorted(2 * ["a", *names])  # each came, and went
