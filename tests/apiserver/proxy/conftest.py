"""A proxy before the real API server, and a play that goes through it with kubectl or plain HTTP."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from yarl import URL

from rolecall.clock import SystemClock
from rolecall.extensions.record.extension import RunRecorder
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from rolecall.proxy import Proxy, RunFollower
from rolecall.reconcile import NOT_FOLLOWED, BegunRun, FollowedRun
from rolecall.record import RunRecord
from rolecall.settings import ProxySettings
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster

CONFIG_MAP = Gvk("", "v1", "ConfigMap")


@dataclass
class Notes:
    """Records what the proxy reported about dependents."""

    dependents: list[tuple[Gvk, Gvk, bool, str]] = field(default_factory=list)
    own_writes: list[tuple[str, str]] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)

    def note(
        self, owner_kind: Gvk, dependent_kind: Gvk, *, by_annotation: bool, namespace: str
    ) -> None:
        self.dependents.append((owner_kind, dependent_kind, by_annotation, namespace))

    def note_asked(self, *_: object) -> None:
        """A run asked for an object."""

    def note_own_write(self, uid: str, resource_version: str) -> None:
        self.own_writes.append((uid, resource_version))

    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        self.events.append((cr["metadata"]["name"], reason, message))


@dataclass
class Ended:
    """A program that ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def object(self) -> Json:
        assert self.code == 0, self.stderr
        found: Json = json.loads(self.stdout)
        return found


@dataclass
class Run:
    """A play in flight: its kubeconfig, and two ways to use it."""

    kubeconfig: Path
    program: Path
    scratch: Path
    followed: FollowedRun = NOT_FOLLOWED

    @property
    def record(self) -> RunRecord:
        """What it read and wrote so far."""
        record = self.followed.finding(RunRecord)
        assert record is not None
        return record

    @property
    def url(self) -> URL:
        """Where the proxy is; by address, since looking `localhost` up would start a thread."""
        server = yaml.safe_load(self.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        return URL(server).with_host("127.0.0.1")

    async def kubectl(self, *arguments: str, stdin: Json | str = "") -> Ended:
        text = stdin if isinstance(stdin, str) else json.dumps(stdin)
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "KUBECONFIG": str(self.kubeconfig),
                "KUBECACHEDIR": str(self.scratch / "kubectl-cache"),
                "HOME": str(self.scratch),
            },
        )
        out, err = await process.communicate(text.encode())
        return Ended(process.returncode or 0, out.decode(), err.decode())

    @asynccontextmanager
    async def request(
        self, method: str, path: str, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.url.join(URL(path)), **options) as response,
        ):
            yield response


@dataclass
class RunningProxy:
    """A proxy with its cluster, and what it reported."""

    cluster: Cluster
    proxy: Proxy
    notes: Notes
    scratch: Path
    watch: Watch = field(
        default_factory=lambda: Watch(gvk=CONFIG_MAP, play=Play(Path("role"), is_role=True))
    )

    @asynccontextmanager
    async def run_for(self, cr: Json, **watch_options: Any) -> AsyncIterator[Run]:
        watch = replace(self.watch, **watch_options)
        async with self.proxy.issue_access("run-1", cr, watch) as access:
            kubectl = Path(self.cluster.record.programs["kubectl"])
            yield Run(access.kubeconfig, kubectl, self.scratch, access.followed)

    def owner_in(self, namespace: str, name: str = "owner") -> Json:
        """A CR; a ConfigMap will do, since any kind may be watched."""
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        cr: Json = self.cluster.api.create(path, {"metadata": {"name": name}})
        return {"apiVersion": "v1", "kind": "ConfigMap", **cr}

    def get(self, namespace: str, name: str, plural: str = "configmaps") -> Json:
        found: Json = self.cluster.api.get(f"/api/v1/namespaces/{namespace}/{plural}/{name}")
        return found


def recorded(run: BegunRun) -> RunFollower:
    return RunRecorder(run, SystemClock())


OpenProxy = Callable[..., AbstractAsyncContextManager[RunningProxy]]


@pytest.fixture
def open_proxy(cluster: Cluster, tmp_path: Path) -> OpenProxy:
    """`async with open_proxy(inject_owner=False) as running_proxy:`"""

    @asynccontextmanager
    async def opened(
        kubeconfig: Path | None = None, **settings: Any
    ) -> AsyncIterator[RunningProxy]:
        credentials = Credentials.load({"KUBECONFIG": str(kubeconfig or cluster.kubeconfig)})
        notes = Notes()
        async with Client(credentials) as client:
            options = ProxySettings(port=0, **settings)
            proxy = Proxy(options, client, dependents=notes, events=notes, follow=recorded)
            await proxy.start()
            try:
                yield RunningProxy(cluster, proxy, notes, tmp_path)
            finally:
                await proxy.stop()

    return opened


@pytest.fixture
async def running_proxy(open_proxy: OpenProxy) -> AsyncIterator[RunningProxy]:
    """A proxy with default settings."""
    async with open_proxy() as opened:
        yield opened


@pytest.fixture
def cr(running_proxy: RunningProxy, namespace: str) -> Json:
    """The CR that the run is for."""
    return running_proxy.owner_in(namespace)


@pytest.fixture
async def run(running_proxy: RunningProxy, cr: Json) -> AsyncIterator[Run]:
    """A run of it, in flight."""
    async with running_proxy.run_for(cr) as running:
        yield running


def reference_to(cr: Json) -> Json:
    """The owner reference that dependents of a CR get."""
    metadata = cr["metadata"]
    return {
        "apiVersion": cr["apiVersion"],
        "kind": cr["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


def config_map(namespace: str, name: str = "made", **data: str) -> Json:
    """A manifest."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
