"""Stands in for an API server with operators in pods: discovery, lists, and exec over a WebSocket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml
from aiohttp import WSMsgType, web
from aiohttp.typedefs import Handler

from rolecall.election import new_lease
from rolecall.extensions.shards.lease_shapes import (
    Naming,
    Profile,
    ended_member,
    member_lease,
    read_leases,
    taken_shard,
    unheld_shard,
)
from rolecall.json_object import Json
from rolecall.kube import Channel

_RESOURCES = {
    "/api/v1": [("pods", "Pod")],
    "/apis/apps/v1": [("deployments", "Deployment"), ("replicasets", "ReplicaSet")],
    "/apis/coordination.k8s.io/v1": [("leases", "Lease")],
    "/apis/example.com/v1": [("websites", "Website")],
}


def controller(kind: str, name: str) -> Json:
    """A reference of something that is controlled, as Kubernetes writes it."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}"}
    return {"ownerReferences": [{**owner, "controller": True}]}


def pod(name: str, namespace: str = "ops", label: str = "web", **container: Sequence[str]) -> Json:
    """A pod of an operator."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"rolecall.dev/engine": label} if label else {"app": "old"},
            **controller("ReplicaSet", f"{label or 'old'}-1a2b"),
        },
        "spec": {"containers": [{"name": "manager", **container}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def lease(holder: str, namespace: str = "ops") -> Json:
    return {
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"holderIdentity": f"{holder}_1234"},
    }


def shard_leases(count: int, held: dict[str, list[int]], ended: Sequence[str] = ()) -> list[Json]:
    """Those of the operator `web`, by host; `ended`: hosts whose members are known to be dead."""
    naming, now = Naming("web", "ops", count), datetime(2026, 11, 25, tzinfo=UTC)
    leases: list[Json] = [new_lease("ops", "web", naming.mode_text, 15, now)]
    for number, (host, shards) in enumerate(held.items()):
        tenure = f"t{number}"
        member = member_lease(naming, tenure, Profile(host, 4, count, "1.0"), 15, now)
        leases.append(ended_member(member, naming, "another", now) if host in ended else member)
        for shard in shards:
            free = read_leases([unheld_shard(naming, shard, 15, now)], naming).shards[shard]
            leases.append(taken_shard(free, naming, f"{host}_{tenure}", 15, now))
    return leases


class FakeCluster:
    """What is there, what a command in a pod says, and what was asked for."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.server = ""
        self.objects: dict[str, list[Json]] = {
            "pods": [],
            "leases": [],
            "deployments": [],
            "replicasets": [],
            "websites": [],
        }
        self.forbidden: set[str] = set()
        self.protocols: Sequence[str] = ("v5.channel.k8s.io", "v4.channel.k8s.io")
        self.says: list[tuple[Channel, bytes]] = []
        self.pods_say: dict[str, list[tuple[Channel, bytes]]] = {}  # instead of that
        self.broken: set[str] = set()  # pods in which nothing can be run
        self.ending: Json | None = {"status": "Success"}
        self.commands: list[tuple[str, list[str]]] = []
        self.ended = threading.Event()  # the caller went
        self.forwarded = 0  # connections to ports of pods
        self.tokens_asked: list[str] = []
        self.page = 0  # the port where the page of a pod is
        self.requests: list[str] = []  # each with its method, such as `GET /version`

    async def resources(self, request: web.Request) -> web.Response:
        rows = [
            {"name": plural, "kind": kind, "namespaced": True, "verbs": ["list"]}
            for plural, kind in _RESOURCES[request.path]
        ]
        return web.json_response({"resources": rows})

    async def discovered(self, request: web.Request) -> web.Response:
        """All kinds at once."""
        rows = [
            (path.split("/")[2:-1], path.rpartition("/")[2], plural, kind)
            for path, resources in _RESOURCES.items()
            for plural, kind in resources
            if path.split("/")[1] == request.path[1:]
        ]
        items = [
            {
                "metadata": {"name": "".join(group)},
                "versions": [{"version": version, "resources": [_row(plural, kind)]}],
            }
            for group, version, plural, kind in rows
        ]
        return web.json_response({"items": items})

    async def listed(self, request: web.Request) -> web.Response:
        plural = request.match_info["plural"]
        namespace = request.match_info.get("namespace", "")
        if plural in self.forbidden or f"{namespace}/{plural}" in self.forbidden:
            return _refused(403, "Forbidden")
        selector = request.query.get("labelSelector", "")
        items = [
            each
            for each in self.objects[plural]
            if namespace in ("", each["metadata"]["namespace"])
            and _is_named(each, request.query.get("fieldSelector", ""))
            and ("=" in selector or selector in ("", *each["metadata"].get("labels", {})))
        ]
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": items})

    async def got(self, request: web.Request) -> web.Response:
        if f"get {request.match_info['plural']}" in self.forbidden:
            return _refused(403, "Forbidden")
        for each in self.objects[request.match_info["plural"]]:
            if each["metadata"]["name"] == request.match_info["name"]:
                return web.json_response(each)
        if (made := self._workload(request.match_info)) is not None:
            return web.json_response(made)
        return _refused(404, "NotFound")

    def _workload(self, asked: Mapping[str, str]) -> Json | None:
        """The Deployment of pods that are there, and its ReplicaSet."""
        plural, name = asked["plural"], asked["name"].removesuffix("-1a2b")
        labels = {
            each["metadata"]["labels"].get("rolecall.dev/engine", "old")
            for each in self.objects["pods"]
        }
        if name not in labels or plural not in ("deployments", "replicasets"):
            return None
        metadata = {"name": asked["name"], "uid": f"uid-{asked['name']}"}
        if plural == "replicasets":
            return {"metadata": {**metadata, **controller("Deployment", name)}}
        return {"metadata": metadata, "spec": {"template": {"spec": {}}}}

    async def exec(self, request: web.Request) -> web.StreamResponse:
        if "exec" in self.forbidden:
            return _refused(403, "Forbidden")
        pod = request.match_info["name"]
        self.commands.append((pod, request.query.getall("command")))
        if pod in self.broken:
            return _refused(500, "InternalError")
        socket = web.WebSocketResponse(protocols=self.protocols)
        await socket.prepare(request)
        for channel, data in self.pods_say.get(pod, self.says):
            await socket.send_bytes(bytes([channel]) + data)
        if self.ending is not None:
            ending = json.dumps(self.ending).encode()
            await socket.send_bytes(bytes([Channel.ENDING]) + ending)
        else:
            async for message in socket:
                if message.type is WSMsgType.BINARY and message.data == b"\xff\x00":
                    break
            self.ended.set()
        await socket.close()
        return socket

    async def forward(self, request: web.Request) -> web.StreamResponse:
        """The pod's port is one of this machine: that of `page`."""
        if "portforward" in self.forbidden:
            return _refused(403, "Forbidden")
        self.forwarded += 1
        socket = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
        await socket.prepare(request)
        port = int(request.query["ports"]).to_bytes(2, "little")
        reader, writer = await asyncio.open_connection("127.0.0.1", self.page)
        for channel in (b"\0", b"\1"):
            await socket.send_bytes(channel + port)

        async def send() -> None:
            while data := await reader.read(65536):
                await socket.send_bytes(b"\0" + data)
            await socket.close()

        sending = asyncio.create_task(send())
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                writer.write(message.data[1:])
        sending.cancel()
        writer.close()
        return socket


def _row(plural: str, kind: str) -> Json:
    return {
        "resource": plural,
        "responseKind": {"kind": kind},
        "singularResource": kind.lower(),
        "scope": "Namespaced",
    }


def _is_named(each: Json, selector: str) -> bool:
    return selector in ("", f"metadata.name={each['metadata']['name']}")


def _refused(code: int, reason: str) -> web.Response:
    status = {
        "kind": "Status",
        "status": "Failure",
        "reason": reason,
        "message": reason,
        "code": code,
    }
    return web.json_response(status, status=code)


@contextmanager
def fake_cluster(folder: Path) -> Iterator[FakeCluster]:
    """Serves in a thread of its own; its kubeconfig is in the folder."""
    cluster = FakeCluster(folder / "kubeconfig")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = web.AppRunner(_app(cluster))
    try:
        port = asyncio.run_coroutine_threadsafe(_serve(runner), loop).result()
        cluster.server = f"http://127.0.0.1:{port}"
        _write_kubeconfig(cluster.kubeconfig, port)
        yield cluster
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _app(cluster: FakeCluster) -> web.Application:
    @web.middleware
    async def noted(request: web.Request, handler: Handler) -> web.StreamResponse:
        cluster.requests.append(f"{request.method} {request.path}")
        return await handler(request)

    app = web.Application(middlewares=[noted])
    for path in ("/api", "/apis"):
        app.router.add_get(path, cluster.discovered)
    for path in _RESOURCES:
        app.router.add_get(path, cluster.resources)
        app.router.add_get(f"{path}/{{plural}}", cluster.listed)
        inside = f"{path}/namespaces/{{namespace}}/{{plural}}"
        app.router.add_get(inside, cluster.listed)
        app.router.add_get(f"{inside}/{{name}}", cluster.got)
        app.router.add_patch(f"{inside}/{{name}}", cluster.got)
        app.router.add_get(f"{inside}/{{name}}/exec", cluster.exec)
        app.router.add_get(f"{inside}/{{name}}/portforward", cluster.forward)
    return app


async def _serve(runner: web.AppRunner) -> int:
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port: int = runner.addresses[0][1]
    return port


def _write_kubeconfig(path: Path, port: int) -> None:
    document = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "namespace": "ops"}}],
        "clusters": [{"name": "x", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
    }
    path.write_text(yaml.safe_dump(document))
