"""Writes of a replica that may not lead never leave the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from rolecall.election import FencedClient
from rolecall.errors import NotLeadingError
from rolecall.gvk import Gvk
from rolecall.kube import Credentials

APP = Gvk("", "v1", "ConfigMap")
BODY = {"metadata": {"name": "x", "namespace": "ns"}}
DISCOVERY = {
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["get", "patch"]}
    ]
}
Write = Callable[[FencedClient], Coroutine[Any, Any, Any]]


async def raw(client: FencedClient, method: str) -> None:
    async with client.request_raw(method, "/api/v1/namespaces/ns/configmaps/x"):
        pass


WRITES: dict[str, Write] = {
    "PUT": lambda client: client.replace(APP, BODY),
    "PATCH": lambda client: client.merge_patch(APP, "ns", "x", {}),
    "PATCH in steps": lambda client: client.json_patch(APP, "ns", "x", []),
    "apply": lambda client: client.apply(APP, BODY, field_manager="f"),
    "DELETE": lambda client: client.delete(APP, "ns", "x"),
    "a play's POST": lambda client: raw(client, "POST"),
    "a play's DELETE": lambda client: raw(client, "DELETE"),
}


class World:
    """A server that notes writes, and a client that may or may not write."""

    def __init__(self) -> None:
        self.leads = True
        self.methods: list[str] = []
        self.client: FencedClient

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/api/v1":
            return web.json_response(DISCOVERY)
        self.methods.append(request.method)
        return web.json_response({"metadata": {"name": "x"}})


@pytest.fixture
async def world(tmp_path: Any) -> AsyncIterator[World]:
    world = World()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", world.answer)
    async with TestServer(app) as server:
        config = tmp_path / "config"
        config.write_text(
            f"{{current-context: c, contexts: [{{name: c, context: {{cluster: k}}}}],"
            f" clusters: [{{name: k, cluster: {{server: '{server.make_url('')}'}}}}]}}"
        )
        credentials = Credentials.load({"KUBECONFIG": str(config)})
        world.client = FencedClient(credentials, lambda: world.leads)
        async with world.client:
            yield world


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_is_refused_while_not_leading(world: World, write: Write) -> None:
    world.leads = False
    with pytest.raises(NotLeadingError, match="this replica may not lead now"):
        await write(world.client)
    assert world.methods == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_passes_while_leading(world: World, write: Write) -> None:
    await write(world.client)
    assert len(world.methods) == 1


async def test_reads_pass_while_not_leading(world: World) -> None:
    world.leads = False
    await world.client.get(APP, "ns", "x")
    await raw(world.client, "GET")
    assert world.methods == ["GET", "GET"]
