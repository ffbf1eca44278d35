"""Runs a program in a container of a pod, over a WebSocket: `v5.channel.k8s.io`, or v4.

Each message is one byte that names a channel, and what goes over it. Channel 3 ends it: a Status with
the exit code. The program's stdin stays open and empty until we end, so that it can see that we went:
a container's runtime ends no program because its caller did.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import urlencode

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube.client import Client
from rolecall.kube.errors import Target
from rolecall.kube.later import aiohttp
from rolecall.kube.pod_sockets import pod_socket

_POD = Gvk("", "v1", "Pod")
_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_END_OF_STDIN = b"\xff\x00"


class Channel(IntEnum):
    """What a message belongs to."""

    STDOUT = 1
    STDERR = 2
    ENDING = 3


@dataclass(frozen=True, slots=True)
class PodCommand:
    """What runs where."""

    namespace: str
    pod: str
    container: str
    words: Sequence[str]

    @property
    def path(self) -> str:
        query = [("command", word) for word in self.words]
        query += [("container", self.container)]
        query += [(name, "true") for name in ("stdin", "stdout", "stderr")]
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}/exec?{urlencode(query)}"


class CommandEndedError(ClusterError):
    """The connection to a program in a pod ended before the program did."""


async def run_in_pod(client: Client, command: PodCommand) -> AsyncGenerator[tuple[Channel, bytes]]:
    """What it prints, as it comes; the last one is `ENDING` with its exit code in decimal."""
    pods = await client.resource_for(_POD)
    target = Target("create", pods, command.namespace, command.pod, "exec")
    who = "the user of your kubeconfig"
    async with pod_socket(client, target, command.path, _PROTOCOLS, who=who) as socket:
        async with _stdin(socket):
            async for channel, data in _messages(socket):
                if channel is Channel.ENDING:
                    break
                yield channel, data
            else:
                raise _cut_off(command)
        code = _exit_code(json.loads(data))
    yield Channel.ENDING, str(code).encode()


@asynccontextmanager
async def _stdin(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[None]:
    """Open as long as the context lasts; v4 knows no end of it but that of the connection."""
    try:
        yield
    finally:
        if socket.protocol == _PROTOCOLS[0] and not socket.closed:
            with contextlib.suppress(aiohttp.ClientError, OSError):
                await socket.send_bytes(_END_OF_STDIN)


async def _messages(
    socket: aiohttp.ClientWebSocketResponse,
) -> AsyncIterator[tuple[Channel, bytes]]:
    async for message in socket:
        # The first one of each channel is empty.
        if message.type is aiohttp.WSMsgType.BINARY and len(message.data) > 1:
            with contextlib.suppress(ValueError):
                yield Channel(message.data[0]), message.data[1:]


def _cut_off(command: PodCommand) -> CommandEndedError:
    return CommandEndedError(
        f"the connection to pod `{command.namespace}/{command.pod}` ended; perhaps the pod did",
        hint="try again: another pod may lead now",
    )


def _exit_code(status: Json) -> int:
    """From the Status that ends it; one that never began is an error of the cluster."""
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or []:
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise ClusterError(
        f"the pod could not run it: {status.get('message') or 'no reason was given'}"
    )
