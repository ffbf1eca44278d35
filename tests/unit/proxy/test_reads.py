"""Reads pass as they are, and are searched for dependents where they can show some."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.proxy.crs import UID
from tests.unit.proxy.upstream import Play, Received, answer, opened_play

MAPS = "/api/v1/namespaces/prod/configmaps"


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


async def test_long_read_passes_with_its_code_and_is_searched_to_its_end(play: Play) -> None:
    reference = {"ownerReferences": [{"kind": "App", "uid": UID}]}
    items = [{"metadata": {"name": "x" * 400_000}}, {"metadata": reference}]
    body = json.dumps({"items": items}).encode()
    play.upstream.say = lambda request: answer(request, 200, body)
    for _ in range(2):
        async with play.request("GET", MAPS, headers={"Accept-Encoding": "gzip"}) as response:
            assert (response.status, await response.read()) == (200, body)
    assert play.reported.dependents == [("ConfigMap", False, "prod")]
    searched, _ = (each for each in play.upstream.received if each.target == MAPS)
    assert searched.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("method", "path", "code", "kind"),
    [
        ("GET", MAPS, 201, "application/json"),
        ("GET", MAPS, 404, "application/json"),
        ("GET", MAPS, 200, "text/plain"),
        ("GET", f"{MAPS}/x/status", 200, "application/json"),
        ("GET", MAPS.replace("configmaps", "bindings"), 200, "application/json"),
        ("GET", MAPS.replace("configmaps", "others"), 200, "application/json"),
        ("DELETE", f"{MAPS}/x", 200, "application/json"),
    ],
)
async def test_answer_that_shows_no_live_object_is_not_searched(
    play: Play, method: str, path: str, code: int, kind: str
) -> None:
    body = json.dumps({"metadata": {"ownerReferences": [{"uid": UID}]}}).encode()
    play.upstream.say = lambda request: answer(request, code, body, **{"Content-Type": kind})
    async with play.request(method, path) as response:
        assert (response.status, await response.read()) == (code, body)
    assert play.reported.dependents == []


async def test_read_passes_where_its_kind_cannot_be_looked_up(play: Play) -> None:
    async def say(request: Received) -> None:
        code = 200 if "boats" in request.target else 500
        await answer(request, code, {"metadata": {"ownerReferences": [{"uid": UID}]}})

    play.upstream.say = say
    async with play.request("GET", "/apis/x.io/v1/namespaces/prod/boats/b") as response:
        assert response.status == 200
    assert play.reported.dependents == []
