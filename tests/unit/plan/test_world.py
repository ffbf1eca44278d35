"""A plan's world before a scripted API server: what it sends, and what it makes of answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rolecall.json_object import Json
from rolecall.plan.model import Certainty
from rolecall.plan.world import PlanWorld
from rolecall.proxy import PlayRequest, RequestInfo, Said

JSON = "application/json"
MAPS = "/api/v1/namespaces/shop/configmaps"


@dataclass
class ScriptedServer:
    """Knows some objects by path; a create answers with what was sent, or with a refusal."""

    there: dict[str, Json] = field(default_factory=dict)
    refusal: tuple[int, str] = (0, "")
    asked: list[tuple[str, str, Any]] = field(default_factory=list)

    async def send(
        self, method: str, target: str, *, accept: str, media_type: str = "", body: bytes = b""
    ) -> Said:
        sent: Json = json.loads(body) if body else {}
        self.asked.append((method, target, sent))
        path = urlsplit(target).path
        code, message = self.refusal
        if code and method != "GET":
            return said(code, {"kind": "Status", "code": code, "message": message})
        if method == "GET" and path not in self.there:
            return said(404, {"kind": "Status", "code": 404, "message": "not found"})
        if method in ("GET", "DELETE"):
            return said(200, self.there.get(path, {}))
        made = {**self.there.get(path, {}), **sent}
        return said(201, {**made, "metadata": {"uid": "u", **made["metadata"]}})


def said(code: int, document: Json) -> Said:
    return Said(code, JSON, json.dumps(document).encode())


def request(method: str, name: str = "", body: Any = None, **more: Any) -> PlayRequest:
    target = f"{MAPS}/{name}" if name else MAPS
    verbs = {"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
    verb = (
        verbs[method]
        if name or method == "POST"
        else {"GET": "list"}.get(method, "deletecollection")
    )
    values: dict[str, Any] = {
        "method": method,
        "target": target,
        "query": {},
        "info": RequestInfo(verb, target, "", "v1", "configmaps", "", "shop", name),
        "media_type": JSON,
        "accept": JSON,
        "body": b"" if body is None else json.dumps(body).encode(),
        "is_upgrade": False,
        "at_s": 1.0,
        "owner": None,
    }
    return PlayRequest(**{**values, **more})


def config_map(name: str, **data: str) -> Json:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data}


async def test_no_write_is_sent_that_would_be_kept() -> None:
    server = ScriptedServer({f"{MAPS}/old": config_map("old")})
    world = PlanWorld("shop")
    patch = {"media_type": "application/merge-patch+json"}
    for asked in (
        request("POST", body=config_map("new")),
        request("PATCH", "old", {"data": {"a": "1"}}, **patch),
        request("PATCH", "new", {"data": {"a": "1"}}, **patch),
        request("PUT", "old", config_map("old", b="1")),
        request("DELETE", "old"),
        request("DELETE", body={"kind": "DeleteOptions"}),
    ):
        await world.answer(asked, server)
    written = [row for row in server.asked if row[0] != "GET"]
    assert len(written) >= 5
    for method, target, sent in written:
        assert parse_qs(urlsplit(target).query)["dryRun"] == ["All"]
        if method == "DELETE":
            assert sent["dryRun"] == ["All"], "with a body, the server looks there alone"


async def test_webhook_without_dry_runs_leaves_the_object_as_sent_and_unknown() -> None:
    refusal = 'admission webhook "acts.example.com" does not support dry run'
    server, world = ScriptedServer(refusal=(400, refusal)), PlanWorld("shop")
    answer = await world.answer(request("POST", body=config_map("new", a="1")), server)
    assert answer.code == 201
    (found,) = world.overlay
    assert (found.now or {})["data"] == {"a": "1"}
    assert found.certainty is Certainty.UNKNOWN
    assert found.why == "the webhook `acts.example.com` does not support dry runs"


async def test_refusal_for_want_of_what_only_the_plan_has_is_unknown() -> None:
    server, world = ScriptedServer(), PlanWorld("shop")
    await world.answer(request("POST", body=config_map("account")), server)
    server.refusal = (403, 'error looking up service account shop/account: "account" not found')
    answer = await world.answer(request("POST", body=config_map("pod")), server)
    assert answer.code == 201
    server.refusal = (403, 'forbidden: "other" not found')
    refused = await world.answer(request("POST", body=config_map("pod2")), server)
    assert refused.code == 403


@pytest.mark.parametrize(
    "asked",
    [
        request("GET", is_upgrade=True),
        request(
            "POST",
            "x",
            info=RequestInfo("create", MAPS, "", "v1", "pods", "exec", "shop", "x"),
        ),
        request(
            "POST",
            "x",
            info=RequestInfo("create", MAPS, "", "v1", "serviceaccounts", "token", "shop", "x"),
        ),
        request("GET", info=RequestInfo("watch", MAPS, "", "v1", "configmaps", "", "shop")),
        request("POST", body={}, media_type="application/cbor"),
    ],
)
async def test_what_has_no_honest_answer_is_refused_and_noted(asked: PlayRequest) -> None:
    server, world = ScriptedServer(), PlanWorld("shop")
    answer = await world.answer(asked, server)
    assert answer.code == 403 or asked.body
    if answer.code == 403:
        assert "a plan cannot answer this" in json.loads(answer.body)["message"]
        assert len(world.refused) == 1
        assert server.asked == []


async def test_created_and_deleted_again_is_nothing() -> None:
    server, world = ScriptedServer(), PlanWorld("shop")
    await world.answer(request("POST", body=config_map("new")), server)
    again = await world.answer(request("POST", body=config_map("new")), server)
    assert (again.code, json.loads(again.body)["reason"]) == (409, "AlreadyExists")
    assert (await world.answer(request("DELETE", "new"), server)).code == 200
    assert (await world.answer(request("GET", "new"), server)).code == 404
    (found,) = world.overlay
    assert (found.before, found.now) == (None, None)


async def test_object_is_given_as_metadata_alone_where_that_was_asked_for() -> None:
    server, world = ScriptedServer(), PlanWorld("shop")
    await world.answer(request("POST", body=config_map("new", a="1")), server)
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    answer = await world.answer(request("GET", "new", accept=accept), server)
    document = json.loads(answer.body)
    assert (document["kind"], "data" in document) == ("PartialObjectMetadata", False)


async def test_stale_version_is_a_conflict() -> None:
    there = config_map("old", a="1")
    there["metadata"]["resourceVersion"] = "7"
    server, world = ScriptedServer({f"{MAPS}/old": there}), PlanWorld("shop")
    merge = "application/merge-patch+json"
    await world.answer(request("PUT", "old", {**there, "data": {"a": "2"}}), server)
    stale = {"metadata": {"resourceVersion": "6"}, "data": {"a": "3"}}
    answer = await world.answer(request("PATCH", "old", stale, media_type=merge), server)
    assert answer.code == 409


async def test_object_that_only_the_plan_has_has_a_version_as_clients_count_on_one() -> None:
    """The status module of a CR out of a file failed for want of it."""
    server, world = ScriptedServer(), PlanWorld("shop")
    made = json.loads((await world.answer(request("POST", body=config_map("a")), server)).body)
    read = json.loads((await world.answer(request("GET", "a"), server)).body)
    assert made["metadata"]["resourceVersion"] == read["metadata"]["resourceVersion"]
    replaced = await world.answer(request("PUT", "a", {**read, "data": {"b": "2"}}), server)
    assert replaced.code < 300
    assert "resourceVersion" not in server.asked[-1][2]["metadata"]


async def test_delete_is_hidden_where_its_body_asks_for_no_dry_run() -> None:
    for query, body, is_gone in (
        ("", None, True),
        ("?dryRun=All", None, False),
        ("?dryRun=All", {"kind": "DeleteOptions"}, True),
        ("", {"dryRun": ["All"]}, False),
    ):
        server, world = ScriptedServer(), PlanWorld("shop")
        server.there[f"{MAPS}/old"] = config_map("old", a="1")
        target = f"{MAPS}/old{query}"
        asked = {"target": target, "query": {"dryRun": "All"} if query else {}}
        await world.answer(request("DELETE", "old", body, **asked), server)
        answer = await world.answer(request("GET", "old"), server)
        assert (answer.code == 404) is is_gone, (query, body)
