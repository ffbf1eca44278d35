"""A tiny API server: answers what a test gives it, byte by byte where that matters."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from multidict import CIMultiDict
from yarl import URL

from rolecall.clock import Clock
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from rolecall.kube.connections import Fence
from rolecall.proxy import FollowRun, Proxy, World
from rolecall.proxy.adoption import WasOwned, never_owned
from rolecall.proxy.following import followed_by_none
from rolecall.reconcile import RunAccess
from rolecall.settings import ProxySettings
from rolecall.workqueue import Key
from tests.fixtures.eventually import eventually_async
from tests.unit.proxy.crs import app, watch

DISCOVERY: dict[str, list[Json]] = {
    "/api/v1": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "nodes", "kind": "Node", "namespaced": False},
        {"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]},
    ]
}
_VERBS = ["create", "get", "list", "watch", "patch", "update", "delete"]


@dataclass
class Received:
    """One request as it arrived."""

    method: str
    target: str
    headers: CIMultiDict[str]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


Say = Callable[[Received], Awaitable[None]]


@dataclass
class Upstream:
    """What was asked, and what is said."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    say: Say | None = None
    connections: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def asked(self) -> list[str]:
        """Methods and targets, in order."""
        return [f"{one.method} {one.target}" for one in self.received]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                request = await _read(head, reader, writer)
                self.received.append(request)
                await self._answer(request)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.connections.discard(writer)
            writer.close()

    async def _answer(self, request: Received) -> None:
        rows = DISCOVERY.get(request.target)
        if rows is not None:
            document = {"resources": [{"verbs": _VERBS, **row} for row in rows]}
            await answer(request, 200, document)
        elif self.say is not None:
            await self.say(request)
        else:
            await answer(request, 404, {"kind": "Status", "code": 404})


async def answer(request: Received, code: int, document: Any, **headers: str) -> None:
    """Say something whole."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    said = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {code} X", *(f"{name}: {value}" for name, value in said.items())]
    request.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await request.writer.drain()


async def _read(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Received:
    first, *lines = head.decode().strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers: CIMultiDict[str] = CIMultiDict()
    for line in lines:
        name, _, value = line.partition(": ")
        headers.add(name.lower(), value)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    if headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    return Received(method, target, headers, body, reader, writer)


@dataclass
class Reported:
    """What the proxy reported about dependents, and on CRs."""

    dependents: list[Any] = field(default_factory=list)
    own_writes: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)

    def note(
        self, owner_kind: Any, dependent_kind: Any, *, by_annotation: bool, namespace: str
    ) -> None:
        self.dependents.append((dependent_kind.kind, by_annotation, namespace))

    def note_asked(self, owner: Key, *place: str) -> None:
        self.asked.append((owner.gvk.kind, owner.name, *place))

    def note_own_write(self, uid: str, resource_version: str) -> None:
        self.own_writes.append((uid, resource_version))

    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        self.events.append((cr["metadata"]["name"], kind, reason, message))


@dataclass
class Play:
    """A run's client."""

    session: aiohttp.ClientSession
    url: URL
    upstream: Upstream
    reported: Reported
    proxy: Proxy
    access: RunAccess

    def request(
        self, method: str, path: str, **options: Any
    ) -> aiohttp.client._RequestContextManager:
        return self.session.request(method, self.url.join(URL(path, encoded=True)), **options)


@asynccontextmanager
async def opened_play(
    folder: Path,
    *,
    base: str = "",
    clock: Clock | None = None,
    tls: ssl.SSLContext | None = None,
    fence: Fence | None = None,
    was_owned: WasOwned = never_owned,
    follow: FollowRun = followed_by_none,
    **settings: Any,
) -> AsyncIterator[Play]:
    """A run in flight, behind a proxy, before a tiny API server."""
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, ssl=tls)
    upstream.port = server.sockets[0].getsockname()[1]
    kubeconfig = folder / "upstream.kubeconfig"
    address = f"{'https' if tls else 'http'}://127.0.0.1:{upstream.port}{base}"
    kubeconfig.write_text(json.dumps(kubeconfig_for(address)))
    reported = Reported()
    try:
        credentials = Credentials.load({"KUBECONFIG": str(kubeconfig)})
        async with Client(credentials, fence=fence) as client:
            given = {"port": 0, "folder": folder, "allows_impersonation": True, **settings}
            options = ProxySettings(**given)
            proxy = Proxy(
                options,
                client,
                dependents=reported,
                clock=clock,
                events=reported,
                was_owned=was_owned,
                follow=follow,
            )
            await proxy.start()
            try:
                async with play_of(proxy, upstream, reported) as play:
                    yield play
            finally:
                await proxy.stop()
    finally:
        server.close()
        for writer in list(upstream.connections):
            writer.transport.abort()
        await server.wait_closed()
        await eventually_async(lambda: not upstream.connections)


@asynccontextmanager
async def play_of(
    proxy: Proxy,
    upstream: Upstream,
    reported: Reported,
    *,
    reads_only: bool = False,
    world: World | None = None,
    cr: Json | None = None,
) -> AsyncIterator[Play]:
    """One more run behind the same proxy; with a world, it is one that plans."""
    issue_access = proxy.issue_read_access if reads_only else proxy.issue_access
    if world is not None:
        issue_access = partial(proxy.issue_access_to_world, world=world)
    async with (
        issue_access("run", cr or app(), watch()) as access,
        aiohttp.ClientSession(auto_decompress=False) as session,
    ):
        config = yaml.safe_load(access.kubeconfig.read_text())
        url = URL(config["clusters"][0]["cluster"]["server"]).with_host("127.0.0.1")
        yield Play(session, url, upstream, reported, proxy, access)


def tls_of_a_server(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate that no authority signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "upstream")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(minutes=5))
        .sign(key, hashes.SHA256())
    )
    pair = folder / "upstream.pem"
    plain = serialization.NoEncryption()
    pkcs8 = serialization.PrivateFormat.PKCS8
    pair.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, pkcs8, plain)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    return context


def kubeconfig_for(server: str) -> dict[str, Any]:
    """For an API server at this address."""
    return {
        "clusters": [
            {"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": "u", "user": {"token": "engine-token"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
