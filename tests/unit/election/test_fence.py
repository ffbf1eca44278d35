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
from tests.unit.kube.test_odd_answers import Hurried

APP = Gvk("", "v1", "ConfigMap")
REVIEW = Gvk("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
PATH = "/api/v1/namespaces/ns/configmaps/x"
BODY = {"metadata": {"name": "x", "namespace": "ns"}}
DISCOVERY = {
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["get", "patch"]},
        {"name": "selfsubjectaccessreviews", "kind": "SelfSubjectAccessReview"},
    ]
}
Write = Callable[[FencedClient], Coroutine[Any, Any, Any]]


async def raw(client: FencedClient, method: str, path: str = PATH, **more: Any) -> None:
    async with client.request_raw(method, path, **more):
        pass


WRITES: dict[str, Write] = {
    "POST": lambda client: client.create(APP, BODY),
    "PUT": lambda client: client.replace(APP, BODY),
    "PATCH": lambda client: client.merge_patch(APP, "ns", "x", {}),
    "PATCH in steps": lambda client: client.json_patch(APP, "ns", "x", []),
    "DELETE": lambda client: client.delete(APP, "ns", "x"),
    "a play's POST": lambda client: raw(client, "POST"),
    "a play's DELETE": lambda client: raw(client, "DELETE"),
    "a play's exec": lambda client: raw(client, "GET", headers={"Upgrade": "websocket"}),
}


class World:
    """A server that notes writes, and a client that may or may not write."""

    def __init__(self) -> None:
        self.leads = True
        self.leads_until = 0  # so many requests; 0: for ever
        self.trouble: Callable[[], web.Response] | None = None
        self.questions_left = 0  # then it may not write any more; 0: for ever
        self.methods: list[str] = []
        self.client: FencedClient

    def may_write(self) -> bool:
        if self.questions_left:
            self.questions_left -= 1
            self.leads = self.leads and self.questions_left > 0
        return self.leads

    async def answer(self, request: web.Request) -> web.Response:
        if request.path in ("/api/v1", "/apis/authorization.k8s.io/v1"):
            return web.json_response(DISCOVERY)
        self.methods.append(request.method)
        if len(self.methods) == self.leads_until:
            self.leads = False
        if self.trouble is not None:
            return self.trouble()
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
        world.client = FencedClient(credentials, world.may_write, clock=Hurried())
        async with world.client:
            yield world


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_is_refused_while_not_leading(world: World, write: Write) -> None:
    world.leads = False
    with pytest.raises(NotLeadingError, match="this replica is not the leader now"):
        await write(world.client)
    assert world.methods == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_passes_while_leading(world: World, write: Write) -> None:
    await write(world.client)
    assert len(world.methods) == 1


async def test_reads_pass_while_not_leading(world: World) -> None:
    world.leads = False
    await world.client.get(APP, "ns", "x")
    for method in ("GET", "HEAD", "OPTIONS"):
        await raw(world.client, method)
    await raw(world.client, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
    await raw(world.client, "POST", "/apis/authentication.k8s.io/v1/tokenreviews")
    assert world.methods == ["GET", "GET", "HEAD", "OPTIONS", "POST", "POST"]


PODS = "/api/v1/namespaces/ns/pods"


async def test_dry_runs_pass_while_not_leading_but_for_what_knows_none(world: World) -> None:
    world.leads = False
    await raw(world.client, "POST", f"{PODS}?fieldManager=a&dryRun=All")
    for path in (
        "?dryRun=",
        "?dryRun=All&dryRun=x",
        "?dryRun=All&dryRun=",
        "/x/proxy/y?dryRun=All",
    ):
        with pytest.raises(NotLeadingError):
            await raw(world.client, "POST", f"{PODS}{path}")
    for part in ("attach", "exec", "portforward", "proxy", "token"):
        with pytest.raises(NotLeadingError):
            await raw(world.client, "POST", f"{PODS}/x/{part}?dryRun=All")
    assert world.methods == ["POST"]


TROUBLES: dict[str, Callable[[], web.Response]] = {
    "is busy": lambda: web.Response(status=429, headers={"Retry-After": "30"}),
    "is away": lambda: web.Response(status=503, headers={"Retry-After": "30"}),
    "has a page instead": lambda: web.Response(text="<html>", content_type="text/html"),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
async def test_write_is_not_repeated_once_leadership_went(
    world: World, trouble: Callable[[], web.Response]
) -> None:
    world.trouble, world.leads_until = trouble, 2
    with pytest.raises(NotLeadingError, match="this replica is not the leader now"):
        await world.client.merge_patch(APP, "ns", "x", {})
    assert world.methods == ["PATCH", "PATCH"]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_whose_right_went_while_it_was_being_connected_is_not_sent(
    world: World, write: Write
) -> None:
    await write(world.client)  # so that nothing but the write itself is asked about
    await world.client.close()
    world.methods.clear()
    world.questions_left = 2  # before the connection is there, and after

    with pytest.raises(NotLeadingError):
        await write(world.client)
    assert world.methods == []


async def test_write_whose_credentials_were_refused_is_not_repeated_either(world: World) -> None:
    world.trouble, world.leads_until = (lambda: web.Response(status=401)), 1
    with pytest.raises(NotLeadingError):
        await raw(world.client, "DELETE")
    assert world.methods == ["DELETE"]


async def test_delete_is_a_dry_run_only_where_its_body_says_so(world: World) -> None:
    world.leads = False
    for body in (b"{}", b'{"dryRun": []}', b"\0", b"[]"):
        with pytest.raises(NotLeadingError):
            await raw(world.client, "DELETE", f"{PATH}?dryRun=All", body=body)
    await raw(world.client, "DELETE", f"{PATH}?dryRun=All")
    await raw(world.client, "DELETE", PATH, body=b'{"dryRun": ["All"]}')
    assert world.methods == ["DELETE", "DELETE"]
