"""Streams that bring nonsense, and bugs of our own: nothing ends for good, and the log says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.reactor import DependentInformers, Reactor
from rolecall.supervisor import Supervisor
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import Keys, Roll, watch
from tests.unit.reactor.small_server import (
    APP,
    CONFIG_MAP,
    SmallServer,
    app,
    small_server,
)
from tests.unit.reactor.test_owned_objects import owned

pytestmark = pytest.mark.slow


class World:
    """A server, and what listens to it."""

    def __init__(self, server: SmallServer, client: Client, keys: Keys) -> None:
        self.server = server
        self.client = client
        self.keys = keys
        self.restarts: list[str] = []
        supervisor = Supervisor(SystemClock(), self.restarts.append)
        self.reactor = Reactor([watch(APP)], client, keys, Roll(), supervisor=supervisor)
        self.dependents = DependentInformers([watch(APP)], client, keys, supervisor=supervisor)


class BrokenKeys(Keys):
    """A sink with a bug."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def add(self, *what: Any) -> None:
        if self.times > 0:
            self.times -= 1
            raise ZeroDivisionError("of all things")
        super().add(*what)


@asynccontextmanager
async def opened(folder: Path, keys: Keys | None = None) -> AsyncIterator[World]:
    async with small_server(folder) as (server, client):
        world = World(server, client, keys or Keys())
        yield world
        await world.dependents.close()


@asynccontextmanager
async def watching(world: World) -> AsyncIterator[asyncio.Task[None]]:
    running = asyncio.create_task(world.reactor.run())
    try:
        yield running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def page(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>hunter2</html>", content_type="text/html")


def nonsense(_: web.Request) -> web.StreamResponse:
    return web.Response(body=b'{"type": "ADDED", "obj\n', content_type="application/json")


def nameless(_: web.Request) -> web.StreamResponse:
    body = b'{"type": "ADDED", "object": {"metadata": {"uid": "u"}}}\n'
    return web.Response(body=body, content_type="application/json")


@pytest.mark.nightly
@pytest.mark.parametrize("odd", [page, nonsense, nameless])
async def test_watch_that_brings_nonsense_is_begun_anew_without_a_rush(
    tmp_path: Path, odd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as world:
        world.server.objects["apps"] = [app("a")]
        world.server.instead = lambda request: (
            odd(request) if "watch" in request.query and request.path.endswith("apps") else None
        )
        began = asyncio.get_running_loop().time()
        async with watching(world) as running:
            # 0.1, 0.2, 0.4 and 0.8 s lie between them, a fifth less at most.
            await eventually_async(lambda: world.server.watched.count("apps") >= 5, timeout_s=30)
            assert asyncio.get_running_loop().time() - began > 1.2
            world.server.instead = lambda _: None
            world.server.has_happened("apps", "ADDED", app("b"))
            await eventually_async(lambda: "b" in world.keys.names, timeout_s=30)
            assert not running.done()
        if odd is page:
            assert f"`{world.server.address}` answered 200 with text/html" in said(caplog)
        assert "hunter2" not in said(caplog)


@pytest.mark.parametrize("odd", [page, nonsense])
async def test_server_that_says_nonsense_to_everything_ends_nothing(
    tmp_path: Path, odd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as world:
        world.server.objects["apps"] = [app("a")]
        world.server.instead = odd
        async with watching(world) as running:
            await eventually_async(lambda: "answered 200 with" in said(caplog), timeout_s=30)
            world.server.instead = lambda _: None
            await eventually_async(lambda: "a" in world.keys.names, timeout_s=60)
            assert not running.done()
            assert world.restarts == []


async def test_bug_during_a_list_is_reported_and_the_list_is_repeated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path, BrokenKeys(1)) as world:
        world.server.objects["apps"] = [app("a"), app("b")]
        async with watching(world) as running:
            await eventually_async(lambda: "b" in world.keys.names, timeout_s=30)
            assert not running.done()
        assert world.restarts == [f"watch {APP}"]
        assert "ZeroDivisionError" in caplog.text


async def test_bug_during_an_event_is_reported_and_its_object_is_listed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path, keys := BrokenKeys(0)) as world:
        async with watching(world) as running:
            await eventually_async(lambda: world.reactor.is_synced, timeout_s=30)
            keys.times = 1
            world.server.objects["apps"] = [app("a"), app("b")]
            world.server.has_happened("apps", "ADDED", app("a"))
            await eventually_async(lambda: "b" in keys.names, timeout_s=30)
            assert not running.done()
        assert "ZeroDivisionError" in caplog.text


async def test_bug_while_dependents_are_followed_is_reported_and_they_are_followed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path, BrokenKeys(1)) as world:
        server, dependents = world.server, world.dependents
        server.objects["configmaps"] = [owned("d", data={"k": "1"})]
        dependents.note(APP, CONFIG_MAP, by_annotation=False, namespace="shop")
        await eventually_async(lambda: dependents.is_watched(CONFIG_MAP))
        assert dependents.lacking == []
        server.objects["configmaps"] = []
        server.has_happened("configmaps", "DELETED", owned("d", data={"k": "1"}))
        await eventually_async(lambda: world.restarts)
        assert not dependents.is_watched(CONFIG_MAP)
        assert dependents.lacking == [str(CONFIG_MAP)]
        server.objects["configmaps"] = [owned("e", data={"k": "1"})]
        await eventually_async(lambda: dependents.is_watched(CONFIG_MAP), timeout_s=30)
        server.has_happened("configmaps", "DELETED", owned("e", data={"k": "1"}))
        await eventually_async(lambda: "a" in world.keys.names)
        assert world.restarts == [f"watch dependents {CONFIG_MAP}"]
        assert "ZeroDivisionError" in caplog.text


async def test_dependents_whose_kind_cannot_be_looked_up_for_a_bug_are_looked_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as world:
        look_up, calls = world.client.resource_for, 0

        async def breaks_once(gvk: Gvk) -> Any:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise ZeroDivisionError("of all things")
            return await look_up(gvk)

        monkeypatch.setattr(world.client, "resource_for", breaks_once)
        world.dependents.note(APP, CONFIG_MAP, by_annotation=False, namespace="shop")
        await eventually_async(lambda: world.dependents.is_watched(CONFIG_MAP), timeout_s=30)
        assert world.restarts == [f"begin to watch dependents {CONFIG_MAP}"]


async def test_dependents_answered_with_nonsense_are_said_to_be_incomplete(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as world:
        world.server.instead = lambda request: (
            page(request) if request.path.endswith("configmaps") else None
        )
        world.dependents.note(APP, CONFIG_MAP, by_annotation=False, namespace="shop")
        await eventually_async(lambda: "cannot watch dependents" in caplog.text, timeout_s=30)
        assert world.dependents.lacking == [str(CONFIG_MAP)]
        assert str(CONFIG_MAP) in world.dependents.note_of_lacking()
        assert f"`{world.server.address}` answered 200 with" in said(caplog)
        world.server.instead = lambda _: None
        await eventually_async(lambda: world.dependents.is_watched(CONFIG_MAP), timeout_s=30)
        assert world.dependents.lacking == []
        assert world.restarts == []


def said(caplog: pytest.LogCaptureFixture) -> str:
    """All that was logged, fields included."""
    fields = [getattr(record, "fields", {}) for record in caplog.records]
    return "\n".join([caplog.text, *(str(each) for each in fields)])
