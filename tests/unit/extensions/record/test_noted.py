"""What is in a run's record after the proxy answered, streamed, refused, or was cut off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from rolecall.clock import SystemClock
from rolecall.extensions.record import RecordFlags
from rolecall.extensions.record.extension import RecordExtension, RunRecorder
from rolecall.record import RecordedRequest, RunRecord
from tests.unit.extending.views import engine_view, host_of
from tests.unit.proxy.crs import UID
from tests.unit.proxy.stored import REFERENCE, Stored, stored
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

MAP = "/api/v1/namespaces/prod/configmaps/made"
PODS = "/api/v1/namespaces/prod/pods"
MERGE = {"Content-Type": "application/merge-patch+json", "User-Agent": "role/1.0"}


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path, follow=lambda run: RunRecorder(run, SystemClock())) as opened:
        opened.upstream.say = stored(ownerReferences=[REFERENCE]).say
        yield opened


def noted(play: Play) -> RecordedRequest:
    record = play.access.followed.finding(RunRecord)
    assert record is not None
    [request] = record.requests
    return request


async def ask(play: Play, method: str, target: str, **options: Any) -> bytes:
    async with play.request(method, target, **options) as response:
        return await response.read()


async def test_read_is_noted_with_the_object_that_it_showed(play: Play) -> None:
    shown = await ask(play, "GET", f"{MAP}?a=b", headers={"Accept-Encoding": "gzip"})
    request = noted(play)
    assert (request.verb, request.resource, request.name) == ("get", "configmaps", "made")
    assert (request.code, request.query, request.answered_bytes) == (200, "a=b", len(shown))
    assert (request.uid, request.object_version, request.is_owned) == ("u-1", "7", True)
    assert play.upstream.received[-1].headers["accept-encoding"] == "identity"


async def test_object_of_another_owner_is_noted_as_not_owned(play: Play) -> None:
    play.upstream.say = stored(ownerReferences=[{**REFERENCE, "uid": "x"}]).say
    await ask(play, "GET", MAP)
    assert (noted(play).uid, noted(play).is_owned) == ("u-1", False)


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
async def test_write_is_noted_with_its_fields_and_its_manager(play: Play, method: str) -> None:
    body = json.dumps({"data": {"a": "b"}}).encode()
    kind = MERGE if method == "PATCH" else {**MERGE, "Content-Type": "application/json"}
    await ask(play, method, MAP, data=body, headers=kind)
    request = noted(play)
    assert (request.manager, request.leaves) == ("role", (".data.a",))
    assert (request.sent_bytes, request.patch_type) == (
        len(body),
        "merge" if method == "PATCH" else "",
    )
    assert (request.object_version, request.code) == ("8", 200)


async def test_long_answer_is_noted_piece_by_piece(play: Play) -> None:
    there = stored()
    assert there.document is not None
    there.document["data"] = {"x": "y" * 600_000}
    play.upstream.say = there.say
    shown = await ask(play, "GET", MAP)
    request = noted(play)
    assert (request.answered_bytes, request.uid, request.code) == (len(shown), "u-1", 200)


async def test_watch_is_noted_as_a_stream_while_it_is_open(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n")
        await request.reader.read()

    play.upstream.say = say
    async with play.request("GET", f"{PODS}?watch=true") as response:
        assert await response.content.readline() == b"one\n"
        request = noted(play)
    assert (request.verb, request.code) == ("watch", 200)
    assert (request.unread, request.answered_bytes) == ("it is a stream", 4)


async def test_refused_watch_is_an_answer(play: Play) -> None:
    play.upstream.say = Stored({}, {"GET": (403, {"kind": "Status"})}).say
    await ask(play, "GET", f"{PODS}?watch=true")
    assert (noted(play).code, noted(play).answered_bytes) == (403, len(b'{"kind": "Status"}'))


async def test_answer_of_the_proxy_itself_is_noted(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.transport.abort()

    play.upstream.say = say
    reported = await ask(play, "GET", MAP)
    assert (noted(play).code, noted(play).answered_bytes) == (502, len(reported))


async def test_request_that_the_end_of_the_run_cut_off_has_no_code(play: Play) -> None:
    came = asyncio.Event()

    async def say(request: Received) -> None:
        came.set()
        await request.reader.read()

    play.upstream.say = say
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        asking = asyncio.create_task(ask(run, "GET", MAP))
        await asyncio.wait_for(came.wait(), 30)
    with pytest.raises(aiohttp.ClientError):
        await asking
    assert noted(run).code == 0


async def test_run_is_noted_only_where_that_is_wanted(tmp_path: Path) -> None:
    view = engine_view(tmp_path)
    off = replace(view.settings, of_extensions=(RecordFlags(is_on=False),))
    host = host_of([RecordExtension], replace(view, settings=off))
    async with opened_play(tmp_path, follow=host.follow) as play:
        play.upstream.say = lambda request: answer(request, 200, {"metadata": {"uid": UID}})
        assert play.access.followed.finding(RunRecord) is None
        await ask(play, "GET", MAP, headers={"Accept-Encoding": "gzip"})
        arrived = play.upstream.received[-1]
        await ask(play, "PATCH", MAP, data=b"{}", headers=MERGE)
    assert arrived.headers["accept-encoding"] == "identity", "it is searched for dependents"
