"""What a play asks for by its name is noted for its CR: only such objects elsewhere bring runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.proxy.upstream import Play, answer, opened_play

JSON = "application/json"
MAPS = "/api/v1/namespaces/neighbour/configmaps"
MADE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "x", "namespace": "neighbour", "uid": "u", "resourceVersion": "7"},
}


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", f"{MAPS}/x", 200),
        ("GET", f"{MAPS}/x", 404),
        ("POST", MAPS, 201),
        ("PUT", f"{MAPS}/x", 200),
        ("PATCH", f"{MAPS}/x", 200),
    ],
)
async def test_named_object_is_noted_for_the_cr(
    play: Play, method: str, path: str, code: int
) -> None:
    play.upstream.say = lambda request: answer(request, code, MADE)
    sent = {} if method == "GET" else {"data": json.dumps(MADE)}
    headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else JSON}
    async with play.request(method, path, headers=headers, **sent) as response:
        assert response.status == code
    assert {each[2:] for each in play.reported.asked} == {("", "configmaps", "neighbour", "x")}
    assert {each[0] for each in play.reported.asked} == {"App"}


async def test_list_proves_nothing_of_what_it_shows(play: Play) -> None:
    play.upstream.say = lambda request: answer(request, 200, {"items": [MADE]})
    async with play.request("GET", MAPS) as response:
        assert response.status == 200
    assert play.reported.asked == []
