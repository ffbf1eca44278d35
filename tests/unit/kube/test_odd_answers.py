"""A gateway that answers in the API server's place, and a server that breaks off in the middle."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, UnavailableError

SECRET = Gvk("", "v1", "Secret")
REVIEW = {"name": "selfsubjectaccessreviews", "kind": "SelfSubjectAccessReview"}
DISCOVERY = {
    "/api/v1": [{"name": "secrets", "kind": "Secret", "namespaced": True}],
    "/apis/authorization.k8s.io/v1": [REVIEW],
}
HTML = b"<html><body>Please log in, dear hunter2</body></html>"
SOUND: dict[str, Any] = {"kind": "Secret", "metadata": {"name": "s", "resourceVersion": "1"}}
LIST: dict[str, Any] = {
    "kind": "SecretList",
    "apiVersion": "v1",
    "metadata": {"resourceVersion": "7"},
    "items": [SOUND],
}


class Hurried(SystemClock):
    """Does not wait between attempts."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class Gateway:
    """Says one thing to everything but discovery, as often as asked for, and then what is right."""

    def __init__(self) -> None:
        self.body = HTML
        self.headers = {"Content-Type": "text/html; charset=utf-8"}
        self.code = 200
        self.times = 10_000
        self.asked: list[str] = []
        self.covers_discovery = False
        self.client: Client
        self.address = ""

    def says(self, body: bytes, **headers: str) -> None:
        self.body = body
        self.headers = {"Content-Type": "application/json"}
        self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(self, request: web.Request) -> web.Response:
        rows = DISCOVERY.get(request.path)
        if rows is not None and not self.covers_discovery:
            return web.json_response({"kind": "APIResourceList", "resources": rows})
        self.asked.append(request.method)
        if self.times > 0:
            self.times -= 1
            return web.Response(status=self.code, body=self.body, headers=self.headers)
        if rows is not None:
            return web.json_response({"kind": "APIResourceList", "resources": rows})
        return web.json_response(LIST if request.path.endswith("/secrets") else SOUND)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    gateway = Gateway()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", gateway.answer)
    async with TestServer(app) as server:
        gateway.address = str(server.make_url("/").origin())
        config = tmp_path / "config"
        config.write_text(
            "{current-context: c, contexts: [{name: c, context: {cluster: k}}],"
            f" clusters: [{{name: k, cluster: {{server: '{gateway.address}'}}}}]}}"
        )
        found = Credentials.load({"KUBECONFIG": str(config)})
        async with Client(found, clock=Hurried()) as client:
            gateway.client = client
            yield gateway


async def pages(client: Client) -> None:
    async for _ in client.pages(SECRET):
        pass


async def watch(client: Client) -> None:
    async for _ in client.watch(SECRET, resource_version="1"):
        pass


BODY = {"metadata": {"name": "s", "namespace": "shop", "resourceVersion": "1"}}
Call = Callable[[Client], Awaitable[Any]]
CALLS: dict[str, Call] = {
    "get": lambda client: client.get(SECRET, "shop", "s"),
    "create": lambda client: client.create(SECRET, BODY),
    "replace": lambda client: client.replace(SECRET, BODY),
    "merge patch": lambda client: client.merge_patch(SECRET, "shop", "s", {}),
    "JSON patch": lambda client: client.json_patch(SECRET, "shop", "s", []),
    "delete": lambda client: client.delete(SECRET, "shop", "s"),
    "list": pages,
    "watch": watch,
    "version": lambda client: client.read_path("/version"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_login_page_in_place_of_an_answer_means_unavailable(
    gateway: Gateway, call: Call
) -> None:
    with pytest.raises(UnavailableError) as caught:
        await call(gateway.client)
    said = str(caught.value.message)
    assert f"`{gateway.address}` answered 200 with" in said
    assert "text/html" in said
    assert "\n" not in said
    assert "hunter2" not in str(caught.value)
    assert "gateway" in caught.value.hint


@pytest.mark.parametrize("code", [200, 201, 302])
async def test_any_code_that_is_no_refusal_counts(gateway: Gateway, code: int) -> None:
    gateway.code = code
    with pytest.raises(UnavailableError, match=f"answered {code} with"):
        await gateway.client.get(SECRET, "shop", "s")


async def test_empty_answer_is_no_object(gateway: Gateway) -> None:
    gateway.says(b"")
    gateway.code = 200
    with pytest.raises(UnavailableError, match="answered 200 with an empty body"):
        await gateway.client.get(SECRET, "shop", "s")


ODD_OBJECTS = {
    "cut off": json.dumps(SOUND).encode()[:-3],
    "two of them": json.dumps(SOUND).encode() * 2,
    "a list": b"[]",
    "a text": b'"ok"',
    "null": b"null",
    "not UTF-8": b'{"metadata": {"name": "\xff\xfe"}}',
    "too deep": b'{"a":' + b"[" * 200_000,
    "a number without end": b'{"a": ' + b"1" * 5000 + b"}",
    "without metadata": b'{"kind": "Secret"}',
    "metadata that is a text": b'{"metadata": "x"}',
    "without a name": b'{"metadata": {}}',
    "another's words": b'{"error": "session expired"}',
}


@pytest.mark.parametrize("body", ODD_OBJECTS.values(), ids=ODD_OBJECTS)
async def test_what_is_no_object_means_unavailable(gateway: Gateway, body: bytes) -> None:
    gateway.says(body)
    for call in (CALLS["get"], CALLS["merge patch"]):
        with pytest.raises(UnavailableError, match="answered 200 with"):
            await call(gateway.client)


ODD_LISTS = {
    **{name: body for name, body in ODD_OBJECTS.items() if name != "two of them"},
    "cut off in its items": json.dumps(LIST).encode()[:-9],
    "cut off before its items": b'{"kind": "SecretList", "items":',
    "two of them": json.dumps(LIST).encode() * 2,
    "without items": b'{"kind": "SecretList", "metadata": {"resourceVersion": "7"}}',
    "items that are a map": b'{"metadata": {"resourceVersion": "7"}, "items": {}}',
    "without metadata": b'{"kind": "SecretList", "items": []}',
    "metadata that is null": b'{"metadata": null, "items": []}',
    "an item that is a text": b'{"metadata": {"resourceVersion": "7"}, "items": ["x"]}',
    "an item without a name": b'{"metadata": {"resourceVersion": "7"}, "items": [{"kind": "S"}]}',
    "a key that is not a string": b'{[]: 1, "items": []}',
}


@pytest.mark.parametrize("body", ODD_LISTS.values(), ids=ODD_LISTS)
async def test_what_is_no_list_means_unavailable(gateway: Gateway, body: bytes) -> None:
    gateway.says(body)
    with pytest.raises(UnavailableError, match="answered 200 with"):
        await pages(gateway.client)


ODD_LINES = {
    "cut off": b'{"type": "ADDED", "obj\n',
    "a text": b'"ok"\n',
    "without a type": b'{"object": {"metadata": {}}}\n',
    "without an object": b'{"type": "ADDED"}\n',
    "an object that is a text": b'{"type": "ADDED", "object": "x"}\n',
    "metadata that is a text": b'{"type": "ADDED", "object": {"metadata": "x"}}\n',
    "without metadata": b'{"type": "ADDED", "object": {"kind": "Secret"}}\n',
    "an error that is a text": b'{"type": "ERROR", "object": "x"}\n',
    "too deep": b'{"type":' + b"[" * 200_000 + b"\n",
}


@pytest.mark.parametrize("body", ODD_LINES.values(), ids=ODD_LINES)
async def test_what_is_no_event_means_unavailable(gateway: Gateway, body: bytes) -> None:
    gateway.says(body)
    with pytest.raises(UnavailableError, match="could not watch secrets"):
        await watch(gateway.client)


async def test_error_event_with_an_odd_code_is_an_error_of_the_cluster(gateway: Gateway) -> None:
    gateway.says(b'{"type": "ERROR", "object": {"code": "x", "message": ["y"]}}\n')
    with pytest.raises(ClusterError, match="could not watch secrets"):
        await watch(gateway.client)


@pytest.mark.parametrize("call", [CALLS["get"], CALLS["list"]], ids=["get", "list"])
async def test_unrequested_compression_is_reported(gateway: Gateway, call: Call) -> None:
    gateway.says(gzip.compress(json.dumps(LIST).encode()), Content_Encoding="gzip")
    with pytest.raises(UnavailableError, match="compressed with `gzip`"):
        await call(gateway.client)


@pytest.mark.parametrize("name", ["get", "list", "merge patch", "delete"])
async def test_odd_answer_is_asked_for_again_where_that_is_safe(
    gateway: Gateway, name: str
) -> None:
    gateway.times = 2
    await CALLS[name](gateway.client)
    assert len(gateway.asked) == 3


async def test_create_is_not_repeated_after_an_odd_answer(gateway: Gateway) -> None:
    with pytest.raises(UnavailableError):
        await gateway.client.create(SECRET, BODY)
    assert gateway.asked == ["POST"]


@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"{}",
        b'{"resources": {}}',
        b'{"resources": ["x"]}',
        b'{"resources": [{"kind": "Secret"}]}',
        b'{"resources": [{"name": "secrets"}]}',
        b'{"resources": [{"name": "secrets", "kind": "Secret", "verbs": 7}]}',
    ],
)
async def test_odd_discovery_is_no_missing_kind(gateway: Gateway, body: bytes) -> None:
    gateway.says(body)
    gateway.covers_discovery = True
    with pytest.raises(UnavailableError, match="could not get `/api/v1`"):
        await gateway.client.get(SECRET, "shop", "s")
    gateway.times = 0
    assert await gateway.client.get(SECRET, "shop", "s")


async def test_refusal_that_is_a_page_keeps_its_meaning(gateway: Gateway) -> None:
    gateway.code = 500
    gateway.says(b"[" * 200_000)
    with pytest.raises(ClusterError, match="the server answered 500"):
        await gateway.client.get(SECRET, "shop", "s")
