"""A connection of ours joined to a port of a pod."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer

from rolecall.errors import ClusterError
from rolecall.kube import Client, Credentials, ForbiddenError, join_pod_port
from rolecall.kube.login import Login

_PORT = b"\x9a\x1f"
_PODS = {
    "resources": [{"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod"}],
    "groupVersion": "v1",
}


class Server:
    """An API server with one pod, which echoes what it gets, or answers with an error."""

    def __init__(self, wrong: bytes = b"", code: int = 101) -> None:
        self.wrong, self.code = wrong, code
        self.asked = ""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/api/v1", self._kinds)
        app.router.add_get("/api/v1/namespaces/n/pods/p/portforward", self._forward)
        return app

    async def _kinds(self, request: web.Request) -> web.Response:
        return web.json_response(_PODS)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        self.asked = request.path_qs
        if self.code != 101:
            return web.Response(status=self.code)
        socket = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
        await socket.prepare(request)
        for channel in (b"\0", b"\1"):
            await socket.send_bytes(channel + _PORT)
        if self.wrong:
            await socket.send_bytes(b"\1" + self.wrong)
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                await socket.send_bytes(b"\0said " + message.data[1:])
                if message.data[1:] == b"enough":
                    await socket.close()
        return socket


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[Client]:
    async with TestServer(server.app()) as listening:
        login = Login(server=str(listening.make_url("")).rstrip("/"))
        async with Client(Credentials(lambda: login, environ={})) as client:
            yield client


@asynccontextmanager
async def joined(
    client: Client,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Future[None]]]:
    """Both ends of a connection that goes to the pod, and how the join ended."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await join_pod_port(client, ("n", "p", 8090), reader, writer)
        except ClusterError as failure:
            ended.set_exception(failure)
        else:
            ended.set_result(None)
        finally:
            writer.close()

    async with await asyncio.start_server(join, "127.0.0.1", 0) as listening:
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        try:
            yield reader, writer, ended
        finally:
            writer.close()


async def test_bytes_pass_both_ways_without_the_protocols_own() -> None:
    server = Server()
    async with client_of(server) as client, joined(client) as (reader, writer, ended):
        writer.write(b"hello")
        assert await reader.readexactly(10) == b"said hello"
        writer.write(b"enough")
        assert await reader.read() == b"said enough"
        await ended
    assert server.asked.endswith("/portforward?ports=8090")


async def test_join_ends_when_our_side_does() -> None:
    async with client_of(Server()) as client, joined(client) as (reader, writer, ended):
        writer.write(b"hello")
        await reader.readexactly(10)
        writer.close()
        await asyncio.wait_for(ended, 10)


async def test_refusal_by_the_pod_is_reported() -> None:
    server = Server(wrong=b"connection refused")
    async with client_of(server) as client, joined(client) as (_, _, ended):
        with pytest.raises(ClusterError, match="port 8090 of pod `n/p`: connection refused"):
            await ended


async def test_missing_right_is_named() -> None:
    async with client_of(Server(code=403)) as client, joined(client) as (_, _, ended):
        with pytest.raises(ForbiddenError) as refusal:
            await ended
        assert "pods/portforward" in refusal.value.hint
