"""A world is asked in place of the API server, and asks it in the name of the play."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.proxy import ApiServer, AskedExchange, PlayRequest, RequestInfo, RunFollower, Said
from rolecall.proxy.worlds import Ownership
from tests.unit.proxy.crs import app, owner
from tests.unit.proxy.stored import MARKS, REFERENCE
from tests.unit.proxy.test_protobuf import ANNOTATION, DATA, METADATA, envelope
from tests.unit.proxy.test_protobuf import field as encoded
from tests.unit.proxy.upstream import Play, answer, opened_play, play_of

MAPS = "/api/v1/namespaces/prod/configmaps"
PROTOBUF = "application/vnd.kubernetes.protobuf"
Ask = Callable[[ApiServer], Awaitable[Said]]


@dataclass
class Noting:
    """A world that notes what it is asked."""

    says: Said = field(default_factory=lambda: Said(418, "text/plain", b"tea"))
    asks: Ask | None = None
    asked: list[PlayRequest] = field(default_factory=list)

    async def answer(self, asked: PlayRequest, server: ApiServer) -> Said:
        self.asked.append(asked)
        return await self.asks(server) if self.asks is not None else self.says


@asynccontextmanager
async def planning(
    folder: Path, world: Noting, cr: Json | None = None, **settings: Any
) -> AsyncIterator[Play]:
    """A run under plan."""
    async with (
        opened_play(folder, **settings) as bare,
        play_of(bare.proxy, bare.upstream, bare.reported, world=world, cr=cr) as play,
    ):
        yield play


class Following(RunFollower):
    """Keeps the exchanges of a run."""

    def __init__(self) -> None:
        self.begun: list[AskedExchange] = []

    def begin(self, exchange: AskedExchange) -> None:
        self.begun.append(exchange)


async def test_world_is_given_the_whole_request(tmp_path: Path) -> None:
    world, following = Noting(), Following()
    headers = {"Content-Type": "Application/Apply-Patch+YAML; charset=utf-8", "Accept": "a/b"}
    target = f"{MAPS}/a%2Fb?fieldManager=me&x=%20+"
    async with planning(tmp_path, world, follow=lambda _: following) as play:
        async with play.request("PATCH", target, data=b"a: b", headers=headers) as response:
            assert (response.status, response.content_type) == (418, "text/plain")
            assert await response.read() == b"tea"
        assert play.upstream.asked == []
    [asked], [begun] = world.asked, following.begun
    assert asked == PlayRequest(
        method="PATCH",
        target=target,
        query={"fieldManager": "me", "x": "  "},
        info=asked.info,
        media_type="application/apply-patch+yaml",
        accept="a/b",
        body=b"a: b",
        is_upgrade=False,
        at_s=begun.at_s,
        owner=Ownership(owner()),
    )
    assert asked.info == RequestInfo(
        "patch", f"{MAPS}/a/b", "", "v1", "configmaps", "b", "prod", "a"
    )
    assert asked.path == f"{MAPS}/a%2Fb"
    assert asked.at_s > 0


async def test_request_without_a_body_has_an_empty_one_and_is_json(tmp_path: Path) -> None:
    world = Noting(Said(200, "", b"{}"))
    async with (
        planning(tmp_path, world) as play,
        play.request("GET", MAPS, headers={"Accept": ""}) as response,
    ):
        assert response.content_type == "application/json"
    [asked] = world.asked
    assert (asked.body, asked.media_type, asked.accept) == (b"", "application/json", "")
    assert not asked.is_protobuf


async def test_world_is_notified_of_streams_and_not_asked_for_discovery(tmp_path: Path) -> None:
    world = Noting()
    async with planning(tmp_path, world) as play:
        headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
        async with play.request("POST", f"{MAPS}/x/exec", headers=headers):
            pass
        async with play.request("GET", "/apis"):
            pass
        assert play.upstream.asked == ["GET /apis"]
    assert [each.is_upgrade for each in world.asked] == [True]


@pytest.mark.parametrize(("cr", "settings"), [(app(uid=""), {}), (app(), {"inject_owner": False})])
async def test_object_that_gets_no_owner_is_reported_to_the_world(
    tmp_path: Path, cr: Json, settings: dict[str, Any]
) -> None:
    world = Noting()
    async with (
        planning(tmp_path, world, cr, **settings) as play,
        play.request("POST", MAPS, json={}),
    ):
        pass
    assert [each.owner for each in world.asked] == [None]


async def test_world_asks_in_the_name_of_the_play(tmp_path: Path) -> None:
    async def asks(server: ApiServer) -> Said:
        said = await server.send(
            "PUT", f"{MAPS}/x?dryRun=All", accept="c/d", media_type="e/f", body=b"sent"
        )
        assert said == Said(201, "text/x", b"said")
        return await server.send("GET", f"{MAPS}/y", accept="")

    world = Noting(asks=asks)
    async with planning(tmp_path, world) as play:
        play.upstream.say = lambda request: answer(
            request, 201, b"said", **{"Content-Type": "text/x"}
        )
        headers = {"Impersonate-User": "jane", "User-Agent": "role", "X-Other": "1"}
        async with play.request("POST", MAPS, json={}, headers=headers) as response:
            assert (response.status, await response.read()) == (201, b"said")
        written, read = play.upstream.received
    assert (written.method, written.target) == ("PUT", f"{MAPS}/x?dryRun=All")
    assert (written.headers["accept"], written.headers["content-type"]) == ("c/d", "e/f")
    assert written.body == b"sent"
    assert (read.method, read.target, read.body) == ("GET", f"{MAPS}/y", b"")
    assert read.headers["accept"] == "*/*"
    assert "content-type" not in read.headers
    assert "content-length" not in read.headers
    for seen in (written, read):
        assert (seen.headers["impersonate-user"], seen.headers["user-agent"]) == ("jane", "role")
        assert seen.headers["authorization"] == "Bearer engine-token"
        assert seen.headers["accept-encoding"] == "identity"
        assert "x-other" not in seen.headers


def asked_with(body: bytes, media_type: str = PROTOBUF) -> PlayRequest:
    info = RequestInfo("create", MAPS)
    return PlayRequest("POST", MAPS, {}, info, media_type, "", body, False, 0.0, None)


def test_version_is_taken_out_of_protobuf_only_where_it_can_be_read() -> None:
    version = encoded(6, "42")
    asked = asked_with(envelope(encoded(1, METADATA) + DATA))
    freed = asked.without_version()
    assert asked.is_protobuf
    assert freed.body == envelope(encoded(1, METADATA.replace(version, b"")) + DATA)
    assert (freed.media_type, freed.target) == (PROTOBUF, MAPS)
    assert asked_with(b"{}").without_version().body == b"{}"


@pytest.mark.parametrize(
    ("metadata", "version"),
    [(METADATA, {"resourceVersion": "42"}), (encoded(12, ANNOTATION), {})],
)
def test_protobuf_that_a_server_read_is_json_at_the_version_of_the_play(
    metadata: bytes, version: Json
) -> None:
    said = {"kind": "ConfigMap", "data": {"a": "b"}}
    read = {**said, "metadata": {"name": "made", "resourceVersion": "77"}}
    asked = asked_with(envelope(encoded(1, metadata) + DATA)).in_json(read)
    assert asked.media_type == "application/json"
    assert json.loads(asked.body) == {**said, "metadata": {"name": "made", **version}}


STRANGER = {**REFERENCE, "uid": "stranger"}


@pytest.mark.parametrize("metadata", [{}, {"metadata": None}, {"metadata": {}}])
def test_new_object_is_owned_by_reference_in_the_namespace_of_its_owner(metadata: Json) -> None:
    body = {"kind": "ConfigMap", **metadata}
    made = Ownership(owner()).of_new(body, is_namespaced=True, namespace="prod")
    assert made == {"kind": "ConfigMap", "metadata": {"ownerReferences": [REFERENCE]}}


@pytest.mark.parametrize(("is_namespaced", "namespace"), [(True, "other"), (False, "prod")])
def test_new_object_elsewhere_is_owned_by_annotations(is_namespaced: bool, namespace: str) -> None:
    body = {"metadata": {"annotations": {"x": "y"}, "ownerReferences": [STRANGER]}}
    made = Ownership(owner()).of_new(body, is_namespaced=is_namespaced, namespace=namespace)
    assert made["metadata"]["annotations"] == {"x": "y", **MARKS}
    assert made["metadata"]["ownerReferences"] == [STRANGER]
    assert body["metadata"] == {"annotations": {"x": "y"}, "ownerReferences": [STRANGER]}


def test_owner_comes_beside_others_and_once() -> None:
    body = {"metadata": {"name": "x", "ownerReferences": [STRANGER]}}
    made = Ownership(owner()).of_new(body, is_namespaced=True, namespace="prod")
    assert made["metadata"] == {"name": "x", "ownerReferences": [STRANGER, REFERENCE]}
    assert Ownership(owner()).of_new(made, is_namespaced=True, namespace="prod") is made


def test_new_object_in_protobuf_gets_its_owner() -> None:
    ownership, data = Ownership(owner()), envelope(encoded(1, METADATA) + DATA)

    def made(data: bytes, namespace: str, *, is_namespaced: bool = True) -> bytes:
        return ownership.of_new_encoded(
            PROTOBUF, data, is_namespaced=is_namespaced, namespace=namespace
        )

    names = {"kind": "App", "name": "shop", "uid": owner().uid, "apiVersion": "demo.example.com/v1"}
    numbers = {"kind": 1, "name": 3, "uid": 4, "apiVersion": 5}
    reference = b"".join(encoded(numbers[name], text) for name, text in names.items())
    marks = b"".join(encoded(12, encoded(1, key) + encoded(2, text)) for key, text in MARKS.items())
    by_reference = envelope(encoded(1, METADATA + encoded(13, reference)) + DATA)
    assert made(data, "prod") == by_reference
    assert made(by_reference, "prod") == by_reference
    assert made(data, "other") == envelope(encoded(1, METADATA + marks) + DATA)
    assert made(data, "prod", is_namespaced=False) == made(data, "other")


def test_owner_of_what_is_replaced_or_applied_is_kept() -> None:
    ownership = Ownership(owner())
    held: Json = {"f:metadata": {"f:ownerReferences": {f'k:{{"uid":"{owner().uid}"}}': {}}}}
    fields = [{"manager": "me", "operation": "Apply", "fieldsV1": held}]
    there = {"metadata": {"ownerReferences": [REFERENCE], "managedFields": fields}}
    body = {"metadata": {"name": "x"}}
    kept = {"metadata": {"name": "x", "ownerReferences": [REFERENCE]}}
    assert ownership.of_replaced(body, there) == kept
    assert ownership.of_applied(body, there, "me") == kept
    assert ownership.of_applied(body, there, "other") == body
    assert ownership.of_replaced(body, {}) == body
