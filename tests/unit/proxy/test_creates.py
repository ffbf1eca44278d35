"""What may create an object is sent with its owner; what is there keeps the owners that it has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.proxy.creates import _has_lost_a_race
from tests.unit.proxy.crs import app
from tests.unit.proxy.stored import MARKS, REFERENCE, Stored, stored
from tests.unit.proxy.test_protobuf import DATA, METADATA, envelope
from tests.unit.proxy.test_protobuf import field as encoded
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

OWN = "/api/v1/namespaces/prod/configmaps"
APPLY = "application/apply-patch+yaml"
JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MANIFEST = {"kind": "ConfigMap", "metadata": {"name": "made"}}
STRANGER = {**REFERENCE, "uid": "stranger"}


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        opened.upstream.say = Stored(None).say
        yield opened


async def write(
    play: Play, method: str, target: str, body: Any = MANIFEST, media_type: str = "", **headers: str
) -> Received:
    """The write as it arrived."""
    kind = media_type or (APPLY if method == "PATCH" else JSON)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": kind, **headers}
    async with play.request(method, target, data=data, headers=headers) as response:
        await response.read()
    [arrived] = [one for one in play.upstream.received if one.method == method]
    return arrived


def sent_metadata(arrived: Received) -> Json:
    found: Json = json.loads(arrived.body).get("metadata", {})
    return found


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_new_object_is_sent_with_its_owner_and_its_kind_is_followed(
    play: Play, method: str
) -> None:
    arrived = await write(play, method, OWN if method == "POST" else f"{OWN}/made?fieldManager=f")
    assert sent_metadata(arrived) == {"name": "made", "ownerReferences": [REFERENCE]}
    assert play.reported.dependents == [("ConfigMap", False, "prod")]
    looks = [one for one in play.upstream.received if one.method == "GET" and "made" in one.target]
    assert [one.target for one in looks] == ([] if method == "POST" else [f"{OWN}/made"])
    first = "application/json;as=PartialObjectMetadata;"
    assert all(one.headers["accept"].startswith(first) for one in looks)
    assert play.reported.asked == [("App", "shop", "", "configmaps", "prod", "made")]


@pytest.mark.parametrize(
    ("target", "body", "dependents"),
    [
        ("/api/v1/namespaces/other/configmaps", MANIFEST, [("ConfigMap", True, "other")]),
        (
            "/api/v1/configmaps",
            {"metadata": {"namespace": "other"}},
            [("ConfigMap", True, "other")],
        ),
        ("/api/v1/configmaps", {}, [("ConfigMap", True, "")]),
        ("/api/v1/nodes", {"metadata": {"namespace": "prod"}}, []),
    ],
)
async def test_new_object_out_of_reach_of_references_is_sent_with_annotations(
    play: Play, target: str, body: Json, dependents: list[object]
) -> None:
    arrived = await write(play, "POST", target, body)
    assert sent_metadata(arrived) == {**body.get("metadata", {}), "annotations": MARKS}
    assert play.reported.dependents == dependents


async def test_body_may_say_the_namespace_that_the_path_leaves_out(play: Play) -> None:
    arrived = await write(play, "POST", "/api/v1/configmaps", {"metadata": {"namespace": "prod"}})
    assert sent_metadata(arrived)["ownerReferences"] == [REFERENCE]
    assert play.reported.dependents == [("ConfigMap", False, "prod")]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_kind_that_discovery_does_not_show_is_named_by_the_body(
    play: Play, method: str
) -> None:
    target = "/apis/x.io/v1/namespaces/prod/boats"
    arrived = await write(
        play, method, target if method == "POST" else f"{target}/made", {"kind": "Boat"}
    )
    assert sent_metadata(arrived)["ownerReferences"] == [REFERENCE]
    assert play.reported.dependents == [("Boat", False, "prod")]


async def test_cluster_scoped_kind_that_discovery_does_not_show_gets_annotations(
    play: Play,
) -> None:
    arrived = await write(play, "POST", "/apis/x.io/v1/boats", {"kind": "Boat"})
    assert sent_metadata(arrived) == {"annotations": MARKS}


async def test_protobuf_without_a_known_kind_gets_its_owner_and_no_dependent_is_reported(
    play: Play,
) -> None:
    play.upstream.say = lambda request: answer(
        request, 404 if request.method == "GET" else 201, {"metadata": {}}
    )
    data = envelope(encoded(1, METADATA) + DATA)
    target = "/apis/x.io/v1/namespaces/prod/boats"
    arrived = await write(play, "POST", target, data, PROTOBUF)
    assert b"shop" in arrived.body
    assert play.reported.dependents == []


HELD: Json = {
    "f:metadata": {
        "f:ownerReferences": {f'k:{{"uid":"{REFERENCE["uid"]}"}}': {}},
        "f:annotations": {f"f:{key}": {} for key in MARKS},
    }
}
FIELDS = [{"manager": "me", "operation": "Apply", "fieldsV1": HELD}]


@pytest.mark.parametrize(
    ("manager", "kept"),
    [("me", {"ownerReferences": [REFERENCE], "annotations": MARKS}), ("other", {}), ("", {})],
)
async def test_apply_says_the_owners_again_that_its_manager_wrote(
    play: Play, manager: str, kept: Json
) -> None:
    play.upstream.say = stored(
        ownerReferences=[REFERENCE, STRANGER], annotations=MARKS, managedFields=FIELDS
    ).say
    arrived = await write(play, "PATCH", f"{OWN}/made?fieldManager={manager}")
    assert sent_metadata(arrived) == {"name": "made", **kept}
    assert arrived.target == f"{OWN}/made?fieldManager={manager}"
    assert play.reported.dependents == []


async def test_put_says_the_owners_again_that_it_does_not_speak_of(play: Play) -> None:
    play.upstream.say = stored(ownerReferences=[REFERENCE, STRANGER], annotations=MARKS).say
    arrived = await write(play, "PUT", f"{OWN}/made")
    kept = {"ownerReferences": [REFERENCE, STRANGER], "annotations": MARKS}
    assert sent_metadata(arrived) == {"name": "made", **kept}
    assert play.reported.dependents == []


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("code", [201, 401, 403, 429, 500])
async def test_refused_look_is_the_answer_and_nothing_is_written(
    play: Play, method: str, code: int
) -> None:
    refused = {"kind": "Status", "code": code, "message": "no"}
    play.upstream.say = Stored({}, {"GET": (code, refused)}).say
    async with play.request(
        method, f"{OWN}/made", data=b"{}", headers={"Content-Type": APPLY}
    ) as response:
        assert (response.status, json.loads(await response.read())) == (code, refused)
    assert {one.method for one in play.upstream.received} == {"GET"}


@pytest.mark.parametrize(
    ("method", "target", "body", "media_type"),
    [
        ("POST", f"{OWN}/made/eviction", MANIFEST, JSON),
        ("PUT", f"{OWN}/made/status", MANIFEST, JSON),
        ("PUT", OWN, MANIFEST, JSON),
        ("PATCH", f"{OWN}/made", MANIFEST, "application/merge-patch+json"),
        ("PATCH", f"{OWN}/made", [], "application/json-patch+json"),
        ("POST", OWN.replace("configmaps", "bindings"), MANIFEST, JSON),
        ("POST", OWN, b"{", JSON),
        ("POST", OWN, b"k8s", PROTOBUF),
        ("POST", "/healthz", MANIFEST, JSON),
        ("DELETE", f"{OWN}/made", {"kind": "DeleteOptions"}, JSON),
    ],
)
async def test_what_is_no_create_or_cannot_be_read_is_sent_as_it_is(
    play: Play, method: str, target: str, body: Any, media_type: str
) -> None:
    play.upstream.say = lambda request: answer(request, 200, {"kind": "Status", "metadata": {}})
    arrived = await write(play, method, target, body, media_type)
    assert arrived.body == (body if isinstance(body, bytes) else json.dumps(body).encode())
    assert play.reported.dependents == []
    assert not any("made" in one.target for one in play.upstream.received if one.method == "GET")


@pytest.mark.parametrize("method", ["PATCH", "POST"])
async def test_apply_in_cbor_is_refused_with_its_way_out(play: Play, method: str) -> None:
    kind = "application/apply-patch+cbor"
    async with play.request(
        method, f"{OWN}/made", data=b"\xa0", headers={"Content-Type": kind}
    ) as response:
        reported = json.loads(await response.read())
    assert (response.status, reported["reason"]) == (415, "UnsupportedMediaType")
    assert reported["message"] == (
        f"a `{kind}` body was refused, because no owner can be added to it;"
        " send JSON, YAML or protobuf"
    )


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_dry_run_has_its_owner_and_makes_no_dependent(play: Play, method: str) -> None:
    target = OWN if method == "POST" else f"{OWN}/made"
    arrived = await write(play, method, f"{target}?dryRun=All")
    assert sent_metadata(arrived)["ownerReferences"] == [REFERENCE]
    assert play.reported.dependents == []
    assert play.reported.own_writes == []


@pytest.mark.parametrize("code", [300, 400, 403, 409, 422, 500])
async def test_create_that_failed_makes_no_dependent(play: Play, code: int) -> None:
    play.upstream.say = Stored(None, {"POST": (code, stored().document)}).say
    async with play.request("POST", OWN, json=MANIFEST, allow_redirects=False) as response:
        assert response.status == code
    assert play.reported.dependents == []
    assert play.reported.own_writes == []


async def test_create_is_noted_as_our_own_write(play: Play) -> None:
    await write(play, "POST", OWN)
    assert play.reported.own_writes == [("u-1", "8")]


@pytest.mark.parametrize(("cr", "settings"), [(app(uid=""), {}), (app(), {"inject_owner": False})])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_play_whose_cr_can_own_nothing_writes_as_it_says(
    tmp_path: Path, cr: Json, settings: dict[str, Any], method: str
) -> None:
    async with (
        opened_play(tmp_path, **settings) as bare,
        play_of(bare.proxy, bare.upstream, bare.reported, cr=cr) as play,
    ):
        play.upstream.say = Stored(None).say
        arrived = await write(play, method, OWN if method == "POST" else f"{OWN}/made")
        assert json.loads(arrived.body) == MANIFEST
        assert {one.method for one in play.upstream.received} == {method}
    assert play.reported.dependents == []


async def test_owner_without_a_namespace_owns_everywhere_by_reference(tmp_path: Path) -> None:
    async with (
        opened_play(tmp_path) as bare,
        play_of(bare.proxy, bare.upstream, bare.reported, cr=app(namespace="")) as play,
    ):
        play.upstream.say = Stored(None).say
        arrived = await write(play, "POST", "/api/v1/nodes")
    assert sent_metadata(arrived)["ownerReferences"] == [REFERENCE]
    assert play.reported.dependents == [("Node", False, "")]


@pytest.mark.parametrize(
    ("answer", "has"),
    [
        (b'{"reason":"Conflict"}', True),
        (b'{"reason":"AlreadyExists"}', False),
        (b"{}", False),
        (b"[]", False),
        (b'"Conflict"', False),
        (b"<html>", False),
        (b"\xff", False),
        (b"[" * 200_000, False),
    ],
)
def test_race_is_lost_only_where_the_api_server_says_so(answer: bytes, has: bool) -> None:
    assert _has_lost_a_race(answer) is has
