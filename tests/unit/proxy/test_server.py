"""The proxy opens one port on both of localhost's addresses, and lets go of everything."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from rolecall.errors import InputError
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


async def test_both_addresses_of_localhost_answer(play: Play) -> None:
    for host in ("127.0.0.1", "::1"):
        try:
            _, writer = await asyncio.open_connection(host, play.proxy.port)
        except OSError:
            assert host == "::1", "a machine may be without IPv6"
            continue
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_port_that_is_taken_is_reported(tmp_path: Path, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as taken:
        taken.bind((host, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as failure:
            async with opened_play(tmp_path, port=port):
                pass
    assert f"on port {port} (--proxy-port): busy, held by process" in str(failure.value)
    assert "--proxy-port" in failure.value.hint


async def test_stopping_cuts_what_is_open(play: Play) -> None:
    async def say(request: Received) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await request.reader.read()

    play.upstream.say = say
    async with play.request("GET", "/api/v1/pods?watch=true") as response:
        await asyncio.wait_for(play.proxy.stop(), 30)
        with pytest.raises(aiohttp.ClientError):
            await response.read()


async def test_garbage_is_answered_and_forgotten(play: Play) -> None:
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", play.proxy.port)
        writer.write(garbage)
        assert b"400" in (await reader.read()).splitlines()[0]
        writer.close()
        await writer.wait_closed()
    assert play.upstream.asked == []


async def test_long_selectors_pass(play: Play) -> None:
    selector = ",".join(f"label-{number}" for number in range(2000))
    async with play.request("GET", f"/api/v1/pods?labelSelector={selector}"):
        pass
    assert play.upstream.asked[-1].endswith("label-1999")


SENTENCE = (
    'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "a"'
)


@pytest.mark.parametrize(("code", "is_reported"), [(403, True), (200, False), (404, False)])
async def test_right_is_missing_only_where_the_answer_was_a_403(
    play: Play, code: int, is_reported: bool
) -> None:
    play.upstream.say = lambda request: answer(request, code, {"message": SENTENCE})
    async with play.request("GET", "/api/v1/pods"):
        pass
    assert play.access.missing_right("another failure", ()) == ""
    assert ("may not list pods" in play.access.missing_right(SENTENCE, ())) is is_reported


@pytest.mark.parametrize("is_removed_by_play", [False, True])
async def test_kubeconfig_is_removed_with_its_run_and_a_play_may_remove_it(
    play: Play, tmp_path: Path, is_removed_by_play: bool
) -> None:
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        file = run.access.kubeconfig
        assert file.parent == tmp_path
        assert file.name.startswith("kubeconfig")
        if is_removed_by_play:
            file.unlink()
    assert not file.exists()


async def test_each_request_is_a_line_of_the_debug_log(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "rolecall.proxy.server")
    async with play.request("GET", "/api/v1/pods"):
        pass
    [line] = [each for each in caplog.records if each.getMessage() == "request"]
    assert line.__dict__["fields"] == {
        "run": "run",
        "verb": "list",
        "resource": "pods",
        "code": 404,
    }


async def test_request_without_a_credential_or_out_of_the_path_is_not_forwarded(play: Play) -> None:
    async with (
        aiohttp.ClientSession() as stranger,
        stranger.get(play.url.with_user(None).with_path("/api/v1/pods")) as response,
    ):
        assert response.status == 401
    async with play.request("GET", "/api/v1/%2e%2e/x") as response:
        assert response.status == 400
    assert play.upstream.asked == []


async def test_port_is_known_only_while_the_proxy_listens(play: Play) -> None:
    assert play.proxy.is_listening
    await play.proxy.stop()
    with pytest.raises(RuntimeError, match="does not listen"):
        _ = play.proxy.port


async def test_address_that_was_free_is_let_go_where_the_other_was_taken(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError):
            async with opened_play(tmp_path, port=port):
                pass
        with socket.socket() as again:
            again.bind(("127.0.0.1", port))
