"""Where the whole engine is measured: engines as processes, and a world of CRs that waits for them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "bench" / "project"
_NAMES = ("One", "Four", "Fifty", "Facts", "Reads", "Writes", "Waits", "Pauses", "Mixed")
KINDS = {kind: Gvk("bench.rolecall.dev", "v1", kind) for kind in _NAMES}
CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
NAMESPACE = Gvk("", "v1", "Namespace")
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Engine:
    """One `rolecall run`, for one namespace."""

    way: str
    namespace: str
    pid: int
    temporary: Path  # its TMPDIR, and that of its plays

    @property
    def artifacts(self) -> Path:
        """The folder of its runs."""
        return self.temporary.parent / "runs"


@contextmanager
def running(
    way: str, namespace: str, kubeconfig: Path, *flags: str, project: Path = PROJECT
) -> Iterator[Engine]:
    """An engine, until the context ends."""
    scratch = Path(tempfile.mkdtemp(prefix="bench"))
    temporary = scratch / "tmp"
    temporary.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    } | {
        "KUBECONFIG": str(kubeconfig),
        "WATCH_NAMESPACE": namespace,
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "TMPDIR": str(temporary),
    }
    command = [sys.executable, "-m", "rolecall", "run", f"--runner={way}"]
    listeners = ["--proxy-port=0", "--role-metrics-port=0", "--metrics-bind-address=0"]
    listeners += ["--health-probe-bind-address=0", "--webhook-bind-address=127.0.0.1:0"]
    listeners += [f"--artifacts-dir={scratch / 'runs'}"]
    log = (scratch / "log").open("wb")
    process = subprocess.Popen(
        [*command, *listeners, *flags],
        cwd=project,
        env=environment,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
    )
    try:
        yield Engine(way, namespace, process.pid, temporary)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        log.close()
        subprocess.run(["rm", "-rf", str(scratch)], check=False)


class World:
    """The cluster, as one who creates CRs and waits sees it."""

    def __init__(self, api: Client) -> None:
        self._api = api

    async def prepare(self, namespaces: list[str]) -> None:
        """Kinds and namespaces."""
        for gvk in KINDS.values():
            await self._api.create(CRD, crd_of(gvk))
        for name in namespaces:
            await self._api.create(NAMESPACE, {"metadata": {"name": name}})
        for gvk in KINDS.values():
            await self._served(gvk)

    async def _served(self, gvk: Gvk) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                await self._api.list_all(gvk)
                return
            except ClusterError:  # whatever it is, the kind is not served yet
                await asyncio.sleep(0.1)
        raise TimeoutError(f"{gvk} was not served")

    async def create(self, gvk: Gvk, namespace: str, names: list[str]) -> list[float]:
        """Create CRs, all at once; returns the seconds until each is `Successful`."""

        async def one(name: str) -> Json:
            metadata = {"name": name, "namespace": namespace}
            body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
            return await self._api.create(gvk, {**body, "spec": {"size": 1}})

        return await self._timed(gvk, namespace, names, one)

    async def edit(self, gvk: Gvk, namespace: str, names: list[str], note: str) -> list[float]:
        """The same for a new generation of CRs that are there."""

        async def one(name: str) -> Json:
            return await self._api.merge_patch(gvk, namespace, name, {"spec": {"note": note}})

        return await self._timed(gvk, namespace, names, one)

    async def _timed(
        self, gvk: Gvk, namespace: str, names: list[str], write: Callable[[str], Any]
    ) -> list[float]:
        version = ""
        async for page in self._api.pages(gvk, namespace):
            version = page.resource_version
            break  # that of every page
        wanted: dict[str, int] = {}
        waiter = asyncio.create_task(self._successes(gvk, namespace, (set(names), wanted), version))
        await asyncio.sleep(0)
        began = {}

        async def one(name: str) -> None:
            began[name] = time.monotonic()
            wanted[name] = (await write(name))["metadata"]["generation"]

        await asyncio.gather(*(one(name) for name in names))
        ended = await asyncio.wait_for(waiter, PATIENCE_S)
        return [ended[name] - began[name] for name in names]

    async def _successes(
        self, gvk: Gvk, namespace: str, waited: tuple[set[str], dict[str, int]], version: str
    ) -> dict[str, float]:
        names, generations = waited
        ended: dict[str, float] = {}
        async for event in self._api.watch(gvk, namespace, resource_version=version):
            name = event.object.get("metadata", {}).get("name", "")
            if failure := _failure_of(event.object):
                raise RuntimeError(f"{gvk.kind} {name}: {failure}")
            if name in names and _is_successful(event.object, generations.get(name, 1)):
                ended.setdefault(name, time.monotonic())
                if len(ended) == len(names):
                    break
        return ended


async def create_some(
    api: Client, gvk: Gvk, namespace: str, names: list[str], at_once: int = 20
) -> None:
    """CRs, some at a time; waits for no run of them."""
    left = iter(names)

    async def some() -> None:
        for name in left:
            metadata = {"name": name, "namespace": namespace}
            body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
            await api.create(gvk, {**body, "spec": {"size": 1}})

    await asyncio.gather(*(some() for _ in range(at_once)))


def _failure_of(cr: Json) -> str:
    """What a role of the bench fails with is a bug of the bench: waiting longer does not help."""
    failure = _true_condition(cr, "Failure")
    return str(failure["message"]) if failure else ""


def _is_successful(cr: Json, generation: int) -> bool:
    # The event of an edit may come before the response to it, which has the generation to wait for.
    wanted = max(generation, cr["metadata"].get("generation", 0))
    is_seen = cr.get("status", {}).get("observedGeneration", 0) >= wanted
    return is_seen and _true_condition(cr, "Successful") is not None


def _true_condition(cr: Json, kind: str) -> Json | None:
    conditions: list[Json] = cr.get("status", {}).get("conditions", [])
    wanted = (one for one in conditions if one["type"] == kind and one["status"] == "True")
    return next(wanted, None)


def crd_of(gvk: Gvk) -> Json:
    """Any spec and any status."""
    kind = gvk.kind
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower()}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    version = {
        "name": gvk.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": f"{names['plural']}.{gvk.group}"},
        "spec": {"group": gvk.group, "names": names, "scope": "Namespaced", "versions": [version]},
    }
