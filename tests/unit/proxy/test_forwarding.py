"""What passes through, and how it looks on the other side."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.fixtures.eventually import eventually_async
from tests.unit.proxy.upstream import Play, Received, answer, opened_play

MAPS = "/api/v1/namespaces/prod/configmaps"


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


async def test_path_and_query_arrive_as_they_were_sent(play: Play) -> None:
    target = f"{MAPS}/a%2Fb%C3%BC?labelSelector=a%3Db,c!=d&x=%20+"
    async with play.request("GET", target):
        pass
    assert play.upstream.asked[-1] == f"GET {target}"


async def test_base_path_of_the_api_server_is_honoured(tmp_path: Path) -> None:
    async with opened_play(tmp_path, base="/k8s/clusters/c-1") as play:
        async with play.request("GET", "/version"):
            pass
        assert play.upstream.asked == ["GET /k8s/clusters/c-1/version"]
        async with play.request("GET", "/api/%2e%2e/%2e%2e/c-2/api") as response:
            assert response.status == 400
        assert len(play.upstream.asked) == 1


async def test_play_acts_as_the_engine(play: Play) -> None:
    headers = {"User-Agent": "role", "Impersonate-User": "jane", "TE": "trailers", "X-Hop": "1"}
    headers |= {"Connection": "keep-alive, X-Hop", "Accept": "a/b"}
    async with play.request("GET", f"{MAPS}/x", headers=headers):
        pass
    seen = play.upstream.received[-1].headers
    assert seen["authorization"] == "Bearer engine-token"
    assert (seen["user-agent"], seen["accept"]) == ("role", "a/b")
    assert seen["impersonate-user"] == "jane"
    assert not {"te", "x-hop"} & set(seen)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", f"{MAPS}/x"), ("PATCH", f"{MAPS}/x"), ("GET", "/version")]
)
async def test_groups_to_impersonate_arrive_all_and_apart(
    play: Play, method: str, path: str
) -> None:
    headers = [("Impersonate-User", "jane"), *(("Impersonate-Group", name) for name in "ab")]
    headers.append(("Content-Type", "application/apply-patch+yaml"))
    async with play.request(method, path, headers=headers, data=b"{}"):
        pass
    arrived = [one.headers for one in play.upstream.received if one.target == path]
    assert arrived
    assert all(headers.getall("Impersonate-Group", []) == ["a", "b"] for headers in arrived)


@pytest.mark.parametrize("code", [200, 403, 404, 409, 422, 429, 500, 503])
async def test_answers_come_back_unchanged(play: Play, code: int) -> None:
    body = b'{"kind":"Status",  "message":"\xff"}'
    play.upstream.say = lambda request: answer(request, code, body, Warning="299 - x", ETag='"e"')
    for method in ("GET", "DELETE"):
        async with play.request(method, f"{MAPS}/x") as response:
            assert (response.status, await response.read()) == (code, body)
            assert (response.headers["Warning"], response.headers["ETag"]) == ("299 - x", '"e"')


@pytest.mark.parametrize(
    ("reason", "lost", "code", "asked"),
    [("Conflict", 2, 201, 3), ("Conflict", 9, 409, 3), ("AlreadyExists", 9, 409, 1)],
)
async def test_create_that_lost_a_race_is_sent_again_and_one_of_what_is_there_is_not(
    play: Play, reason: str, lost: int, code: int, asked: int
) -> None:
    """kubernetes.core goes on after any 409 to a create, as if the object were there."""
    refused = json.dumps({"kind": "Status", "code": 409, "reason": reason}).encode()

    async def say(request: Received) -> None:
        posts = sum(one.method == "POST" for one in play.upstream.received)
        await (
            answer(request, 409, refused) if posts <= lost else answer(request, 201, request.body)
        )

    play.upstream.say = say
    data = json.dumps({"kind": "ConfigMap", "metadata": {"name": "x"}}).encode()
    headers = {"Content-Type": "application/json"}
    async with play.request("POST", MAPS, data=data, headers=headers) as response:
        assert response.status == code
        assert code == 201 or await response.read() == refused
    sent = [one.body for one in play.upstream.received if one.method == "POST"]
    assert len(sent) == asked
    assert all(b"ownerReferences" in body for body in sent)


async def test_head_has_headers_and_no_body(play: Play) -> None:
    play.upstream.say = lambda request: answer(request, 200, b"", **{"Content-Length": "77"})
    async with play.request("HEAD", f"{MAPS}/x") as response:
        assert (response.headers["Content-Length"], await response.read()) == ("77", b"")


@pytest.mark.parametrize("is_chunked", [True, False])
async def test_large_body_of_a_patch_arrives_whole(play: Play, is_chunked: bool) -> None:
    body = b"x" * 2_000_000

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 50_000):
            yield body[start : start + 50_000]

    data = pieces() if is_chunked else io.BytesIO(body)
    headers = {"Content-Type": "application/merge-patch+json"}
    async with play.request("PATCH", f"{MAPS}/x", data=data, headers=headers):
        pass
    assert play.upstream.received[-1].body == body


async def test_large_create_gets_its_owner(play: Play) -> None:
    body = json.dumps({"kind": "ConfigMap", "data": {"x": "y" * 2_000_000}}).encode()
    headers = {"Expect": "100-continue", "Content-Type": "application/json"}
    async with play.request("POST", MAPS, data=io.BytesIO(body), headers=headers):
        pass
    received = json.loads(play.upstream.received[-1].body)
    assert received["metadata"]["ownerReferences"][0]["name"] == "shop"
    assert len(received["data"]["x"]) == 2_000_000


async def test_unknown_format_is_refused_rather_than_left_unowned(play: Play) -> None:
    headers = {"Content-Type": "application/cbor"}
    async with play.request("POST", MAPS, data=b"\xd9\xd9\xf7", headers=headers) as response:
        assert response.status == 415
    assert not any(line.startswith("POST") for line in play.upstream.asked)


@pytest.mark.parametrize(
    "path", [f"{MAPS}?watch=true", "/api/v1/namespaces/prod/pods/p/log?follow=1"]
)
async def test_every_piece_of_an_endless_answer_passes_at_once(play: Play, path: str) -> None:
    more = asyncio.Event()

    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for line in (b"one\n", b"two\n"):
            request.writer.write(b"4\r\n" + line + b"\r\n")
            await more.wait()
            more.clear()
        request.writer.write(b"0\r\n\r\n")

    play.upstream.say = say
    async with play.request("GET", path) as response:
        for line in (b"one\n", b"two\n"):
            assert await asyncio.wait_for(response.content.readline(), 30) == line
            more.set()
        assert await response.read() == b""


async def test_watch_ends_upstream_when_its_reader_leaves(play: Play) -> None:
    left = asyncio.Event()

    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await request.reader.read()
        left.set()

    play.upstream.say = say
    async with play.request("GET", f"{MAPS}?watch=true") as response:
        response.close()
    await asyncio.wait_for(left.wait(), 30)


async def test_half_an_answer_is_not_passed_off_as_a_whole_one(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(40):
            request.writer.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        await request.writer.drain()
        request.writer.transport.abort()

    play.upstream.say = say
    with pytest.raises(aiohttp.ClientError):
        async with play.request("GET", MAPS) as response:
            await response.read()


async def test_api_server_that_is_away_is_a_502_with_the_cause(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.transport.abort()

    play.upstream.say = say
    async with play.request("GET", f"{MAPS}/x") as response:
        assert response.status == 502
        status = await response.json()
    assert status["kind"] == "Status"
    assert "could not be reached" in status["message"]


async def test_stopped_proxy_can_be_asked_no_more(play: Play) -> None:
    async with play.request("GET", "/version"):
        pass
    await play.proxy.stop()
    assert not play.proxy.is_listening
    with pytest.raises(aiohttp.ClientError):
        async with play.request("GET", "/version"):
            pass
    await eventually_async(lambda: not play.proxy.is_listening)


@pytest.mark.parametrize(
    "name",
    [
        "Connection",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Upgrade",
    ],
)
async def test_header_of_one_hop_is_passed_on_in_neither_direction(play: Play, name: str) -> None:
    play.upstream.say = lambda request: answer(request, 200, b"{}", **{name: "of-upstream"})
    async with play.request("GET", f"{MAPS}/x", headers={name: "of-the-play"}) as response:
        assert response.headers.get(name) != "of-upstream"
    assert play.upstream.received[-1].headers.get(name) != "of-the-play"


@pytest.mark.parametrize("is_chunked", [True, False])
@pytest.mark.parametrize(("over", "code"), [(0, 404), (1, 413)])
async def test_create_may_be_as_large_as_the_api_server_takes_and_no_larger(
    play: Play, is_chunked: bool, over: int, code: int
) -> None:
    body = b"x" * (3 * 1024 * 1024 + over)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1_000_000):
            yield body[start : start + 1_000_000]

    data = pieces() if is_chunked else io.BytesIO(body)
    headers = {"Content-Type": "application/json"}
    async with play.request("POST", MAPS, data=data, headers=headers) as response:
        assert response.status == code
    arrived = [one.body for one in play.upstream.received if one.method == "POST"]
    assert arrived == ([] if over else [body])


async def test_body_of_no_type_is_json(play: Play) -> None:
    async with play.request(
        "POST", MAPS, data=b"{}", headers={"Accept": "a/b"}, skip_auto_headers=["Content-Type"]
    ):
        pass
    sent = play.upstream.received[-1]
    assert "content-type" not in sent.headers
    assert json.loads(sent.body)["metadata"]["ownerReferences"][0]["name"] == "shop"


async def test_bug_in_the_middle_of_a_stream_breaks_it_off(
    play: Play, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError("of all things")

    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        request.writer.write(b"Transfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n")

    play.upstream.say = say
    monkeypatch.setattr("rolecall.proxy.dependent_finder._Search.feed", bug)
    with pytest.raises(aiohttp.ClientError):
        async with play.request("GET", f"{MAPS}?watch=true") as response:
            await response.read()
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("code", [204, 304])
async def test_answer_without_a_body_has_none(play: Play, code: int) -> None:
    async def say(request: Received) -> None:
        request.writer.write(f"HTTP/1.1 {code} X\r\nETag: x\r\n\r\n".encode())

    play.upstream.say = say
    async with play.request("GET", f"{MAPS}/x") as response:
        assert (response.status, response.headers["ETag"]) == (code, "x")
        assert await response.read() == b""
        assert "Content-Length" not in response.headers or code == 304
