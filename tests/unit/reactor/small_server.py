"""An API server of a few kinds, which can be made to say something else in place of an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from tests.unit.reactor.objects import metadata

APP = Gvk("demo.example.com", "v1", "App")
CONFIG_MAP = Gvk("", "v1", "ConfigMap")
_ALL = ["create", "get", "list", "watch", "patch", "update", "delete"]
_KINDS = {
    "/api/v1": ("configmaps", "ConfigMap"),
    "/apis/demo.example.com/v1": ("apps", "App"),
    "/apis/apiextensions.k8s.io/v1": ("customresourcedefinitions", "CustomResourceDefinition"),
}
Odd = Callable[[web.Request], web.StreamResponse | None]


class SmallServer:
    """What there is, who watches, and what is said instead."""

    def __init__(self) -> None:
        self.objects: dict[str, list[Json]] = {"apps": [], "configmaps": []}  # by plural
        self.instead: Odd = lambda _: None
        self.lines: dict[str, list[bytes]] = {}  # what a watch begins with, by plural
        self.watched: list[str] = []  # plurals
        self.news: dict[str, asyncio.Queue[bytes]] = {}
        self.address = ""

    def has_happened(self, plural: str, event: str, document: Json) -> None:
        """Send it to watches, and keep it for later lists: a stream may end before it arrives."""
        name = document["metadata"]["name"]
        others = [each for each in self.objects[plural] if each["metadata"]["name"] != name]
        self.objects[plural] = others if event == "DELETED" else [*others, document]
        line = json.dumps({"type": event, "object": document}).encode() + b"\n"
        self.news.setdefault(plural, asyncio.Queue()).put_nowait(line)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        plural = request.path.rpartition("/")[2]
        is_watch = "watch" in request.query
        if is_watch:
            self.watched.append(plural)
        if (odd := self.instead(request)) is not None:
            return odd
        if is_watch:
            return await self._watch(request, plural)
        return web.json_response(_document(request.path) or self._list(plural))

    def _list(self, plural: str) -> Json:
        items = self.objects.get(plural, [])
        return {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": items}

    async def _watch(self, request: web.Request, plural: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        news = self.news.setdefault(plural, asyncio.Queue())
        for line in self.lines.get(plural, []):
            await response.write(line)
        while True:
            await response.write(await news.get())


def _document(path: str) -> Json | None:
    if path not in _KINDS:
        return None
    plural, kind = _KINDS[path]
    row = {"name": plural, "singularName": "", "kind": kind, "verbs": _ALL}
    return {"resources": [{**row, "namespaced": plural in ("apps", "configmaps")}]}


def app(name: str = "a", **fields: Any) -> Json:
    return {
        "apiVersion": APP.api_version,
        "kind": "App",
        "metadata": metadata(name, generation=1, **fields),
    }


@asynccontextmanager
async def small_server(folder: Path) -> AsyncIterator[tuple[SmallServer, Client]]:
    """The server, and a client of it."""
    server = SmallServer()
    web_app = web.Application()
    web_app.router.add_route("*", "/{tail:.*}", server.answer)
    async with TestServer(web_app, handler_cancellation=True) as running:
        server.address = str(running.make_url("/").origin())
        config = folder / "config"
        config.write_text(
            "{current-context: c, contexts: [{name: c, context: {cluster: k}}],"
            f" clusters: [{{name: k, cluster: {{server: '{server.address}'}}}}]}}"
        )
        async with Client(Credentials.load({"KUBECONFIG": str(config)})) as client:
            yield server, client
