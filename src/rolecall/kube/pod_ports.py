"""Joins a connection of ours to a port of a pod, over a WebSocket: `v4.channel.k8s.io`.

One WebSocket is one connection. Each message is one byte that names a channel, and what goes over it: 0
is data, 1 is an error message; the first message of either is the port. Rejected: SPDY, which the
newer protocol of kubectl still speaks inside of its WebSocket.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube.client import Client
from rolecall.kube.errors import Target
from rolecall.kube.later import aiohttp
from rolecall.kube.pod_sockets import pod_socket

_POD = Gvk("", "v1", "Pod")
_PROTOCOLS = ("v4.channel.k8s.io",)
_DATA, _ERROR = 0, 1
_AT_ONCE = 64 * 1024


async def join_pod_port(
    client: Client,
    place: tuple[str, str, int],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Pass bytes both ways until either side ends; `place` is namespace, pod and port."""
    namespace, pod, port = place
    target = Target("create", await client.resource_for(_POD), namespace, pod, "portforward")
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/portforward?ports={port}"
    who = "the user of your kubeconfig"
    async with pod_socket(client, target, path, _PROTOCOLS, who=who) as socket:
        sending = asyncio.create_task(_send(socket, reader))
        try:
            await _receive(socket, writer, f"port {port} of pod `{namespace}/{pod}`")
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, aiohttp.ClientError, OSError):
                await sending


async def _send(socket: aiohttp.ClientWebSocketResponse, reader: asyncio.StreamReader) -> None:
    while data := await reader.read(_AT_ONCE):
        await socket.send_bytes(bytes([_DATA]) + data)
    await socket.close()


async def _receive(
    socket: aiohttp.ClientWebSocketResponse, writer: asyncio.StreamWriter, what: str
) -> None:
    begun = set[int]()
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, data = message.data[0], message.data[1:]
        if channel not in begun:
            begun.add(channel)
        elif channel == _DATA:
            writer.write(data)
            await writer.drain()
        elif channel == _ERROR and data:
            said = data.decode(errors="replace").strip()
            raise ClusterError(f"could not reach {what}: {said}")
