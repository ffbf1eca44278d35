"""`rolecall rbac --record`: the words of RBAC of each request, and nothing else of it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.unit.proxy.stored import Stored, stored
from tests.unit.proxy.upstream import Play, opened_play

MAPS = "/api/v1/namespaces/prod/configmaps"
CONFIG_MAP = {
    "for": "demo.example.com/v1, Kind=App",
    "group": "",
    "resource": "configmaps",
    "subresource": "",
    "namespace": "prod",
    "name": "made",
}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
JSON = {"Content-Type": "application/json"}


def lines(record: Path) -> list[dict[str, Any]]:
    text = record.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


async def ask(play: Play, method: str, target: str, **options: Any) -> int:
    async with play.request(method, target, **options) as response:
        return response.status


async def test_each_request_is_a_line_at_once_after_those_of_earlier_engines(
    tmp_path: Path,
) -> None:
    record = tmp_path / "record"
    for engine in (1, 2):
        async with opened_play(tmp_path, record=record) as play:
            play.upstream.say = stored().say
            assert await ask(play, "GET", f"{MAPS}/made?secret=1") == 200
            assert await ask(play, "GET", "/healthz") == 200
            assert len(lines(record)) == 2 * engine
    assert lines(record) == 2 * [
        {**CONFIG_MAP, "verb": "get", "code": 200},
        {"for": CONFIG_MAP["for"], "verb": "get", "path": "/healthz", "code": 200},
    ]
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


async def test_record_is_closed_when_the_proxy_stops(tmp_path: Path) -> None:
    async with opened_play(tmp_path, record=tmp_path / "record") as play:
        await play.proxy.stop()
        await play.proxy.stop()  # with `-W error`, a file that is left open fails


@pytest.mark.parametrize(
    ("there", "method", "headers", "verbs"),
    [
        (None, "PATCH", APPLY, ["patch", "get", "create"]),
        (stored().document, "PATCH", APPLY, ["patch", "get"]),
        (None, "PUT", JSON, ["update", "get", "create"]),
        (None, "POST", JSON, ["create"]),
        (stored().document, "PATCH", {"Content-Type": "application/merge-patch+json"}, ["patch"]),
        (stored().document, "DELETE", JSON, ["delete"]),
    ],
)
async def test_reads_and_creates_that_a_write_stands_for_are_recorded(
    tmp_path: Path, there: Any, method: str, headers: dict[str, str], verbs: list[str]
) -> None:
    record = tmp_path / "record"
    target = MAPS if method == "POST" else f"{MAPS}/made"
    async with opened_play(tmp_path, record=record) as play:
        play.upstream.say = Stored(there).say
        code = await ask(play, method, target, data=b"{}", headers=headers)
    assert [(line["verb"], line["code"]) for line in lines(record)] == [
        (verb, code) for verb in verbs
    ]


async def test_writes_without_injection_stand_for_themselves(tmp_path: Path) -> None:
    record = tmp_path / "record"
    async with opened_play(tmp_path, record=record, inject_owner=False) as play:
        play.upstream.say = Stored(None).say
        assert await ask(play, "PUT", f"{MAPS}/made", data=b"{}") == 201
    assert [line["verb"] for line in lines(record)] == ["update"]
