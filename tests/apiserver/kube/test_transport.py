"""Bad servers and bad networks: what is repeated, what is not, and what is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import (
    Client,
    Credentials,
    Timeouts,
    UnauthorizedError,
    UnavailableError,
)

SECRET = Gvk("", "v1", "Secret")
RESOURCES = {"resources": [{"name": "secrets", "kind": "Secret", "namespaced": True}]}
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Gives scripted answers to calls about Secrets, one after the other, the last one for ever."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[web.Request] = []
        self.calls: list[tuple[str, str, int]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/base/api/v1":
            return web.json_response(RESOURCES)
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    yield Server()


@pytest.fixture
async def client(server: Server, tmp_path: Path) -> AsyncIterator[Client]:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", server.answer)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    path = tmp_path / "config"
    write_kubeconfig(path, runner.addresses[0][1], "old")
    found = Credentials.load({"KUBECONFIG": str(path)})
    timeouts = Timeouts(connect_s=1, total_s=0.5)

    def on_call(verb: str, resource: str, code: int, seconds: float) -> None:
        server.calls.append((verb, resource, code))

    async with Client(found, timeouts=timeouts, on_call=on_call) as client:
        yield client
    await runner.cleanup()


def write_kubeconfig(path: Path, port: int, token: str) -> None:
    content = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}/base"}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(content))


async def fine(_: web.Request) -> web.StreamResponse:
    return web.json_response({"metadata": {"name": "s"}})


async def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def hang(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"{")
    await asyncio.Event().wait()
    return response


def says(code: int, text: str = "", **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        status = {"kind": "Status", "code": code, "message": text}
        return web.json_response(status, status=code, headers=headers)

    return answer


BODY = {"metadata": {"namespace": "shop", "name": "s"}}


@pytest.mark.parametrize("trouble", [reset, says(429), says(503), says(502)])
async def test_reading_is_repeated_when_that_may_help(
    server: Server, client: Client, trouble: Answer
) -> None:
    server.answers = [trouble, fine]
    assert (await client.get(SECRET, "shop", "s"))["metadata"]["name"] == "s"
    assert len(server.asked) >= 2


async def test_creating_is_repeated_only_if_nothing_was_done(
    server: Server, client: Client
) -> None:
    server.answers = [says(429), fine]
    await client.create(SECRET, BODY)
    for trouble in (reset, says(503), says(500)):
        server.answers, server.asked[:] = [trouble], []
        with pytest.raises(ClusterError):
            await client.create(SECRET, BODY)
        assert len(server.asked) == 1


async def test_server_that_never_answers_costs_its_time_limit_once(
    server: Server, client: Client
) -> None:
    server.answers = [hang]
    with pytest.raises(UnavailableError, match="no answer in time") as caught:
        await client.get(SECRET, "shop", "s")
    assert caught.value.is_timeout
    assert len(server.asked) == 1


async def test_unreachable_server_is_reported_without_the_request(tmp_path: Path) -> None:
    path = tmp_path / "config"
    write_kubeconfig(path, 1, "hunter2")
    async with Client(Credentials.load({"KUBECONFIG": str(path)})) as client:
        with pytest.raises(UnavailableError, match="could not get `/version`") as caught:
            await client.read_path("/version")
    assert "hunter2" not in str(caught.value)


async def test_refused_credentials_are_renewed_once(
    server: Server, client: Client, tmp_path: Path
) -> None:
    async def by_token(request: web.Request) -> web.StreamResponse:
        port = int(str(request.url.port))
        write_kubeconfig(tmp_path / "config", port, "new")
        is_known = request.headers["Authorization"] == "Bearer new"
        return await (fine if is_known else says(401))(request)

    server.answers = [by_token]
    await client.create(SECRET, BODY)
    server.answers, server.asked[:] = [says(401, "who are you")], []
    with pytest.raises(UnauthorizedError, match="who are you"):
        await client.get(SECRET, "shop", "s")
    assert len(server.asked) == 2


async def test_every_call_is_counted_once_with_its_outcome(server: Server, client: Client) -> None:
    server.answers = [fine, says(404, "no")]
    await client.get(SECRET, "shop", "s")
    with pytest.raises(ClusterError):
        await client.delete(SECRET, "shop", "s")
    assert server.calls == [
        ("get", "/api/v1", 200),
        ("get", "secrets", 200),
        ("delete", "secrets", 404),
    ]


async def test_answer_that_is_no_json_is_not_quoted(server: Server, client: Client) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>hunter2</html>", status=500)

    server.answers = [page]
    with pytest.raises(ClusterError) as caught:
        await client.get(SECRET, "shop", "s")
    assert "hunter2" not in str(caught.value)
