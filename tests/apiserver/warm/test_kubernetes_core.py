"""Every module of kubernetes.core works in plays through the proxy, as people write its tasks.

Helm and kubectl are the real programs. Nodes are simulated, so no container runs: tasks that need one
(exec, cp, log, the connection plugin) must get the API server's own answer for such a node. What
containers answer is for `tests/real`. `helm_registry_auth` needs a registry, and calls no API server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from rolecall.runner import RunEvent, RunResult
from rolecall.runner.stock import StockRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster, find_binaries
from tests.apiserver.warm import core_tasks
from tests.apiserver.warm.core_tasks import BASE, CHART, PLUGIN
from tests.apiserver.warm.surroundings import ApiServer
from tests.fixtures.cluster import unique_name
from tests.play.fidelity.harness import COLLECTIONS
from tests.play.warm.runs import CASE, Tasks, request_for, workshop, write

GROUPS = ("HELM", "HELM_BESIDES", "K8S", "WORKLOADS", "CONTAINERS")


class _AnyRight(ApiServer):
    """The engine has all rights, as Helm keeps its releases in Secrets."""

    def _account(self) -> Path:
        return self._cluster.kubeconfig


@dataclass
class Plays:
    """Runs tasks as a role in one of the two ways."""

    api: ApiServer
    cluster: Cluster
    namespace: str
    folder: Path
    path: str

    async def run(self, way: str, tasks: Tasks, **spec: Any) -> None:
        for name, text in {**_below("tiny", CHART), **_below("plugin", PLUGIN), **BASE}.items():
            write(self.folder / name, text)
        (self.folder / "plugin/tiny").chmod(0o700)
        homes = ("CACHE", "CONFIG", "DATA")
        environment = {f"HELM_{home}_HOME": str(self.folder / home.lower()) for home in homes}
        environment["PATH"] = self.path
        cr = await self.api.made_case(self.namespace, way, {"work": str(self.folder), **spec})
        settings: dict[str, Any] = {
            "collections_path": str(COLLECTIONS),
            "environment": environment,
        }
        async with workshop(self.folder, **settings) as shop:
            role = shop.role("uses", tasks)
            watch = Watch(CASE, Play(role, is_role=True))
            async with self.api.proxy.issue_access("any", cr, watch) as access:
                if way == "warm":
                    result = await shop.run(role, cr=cr, kubeconfig=access.kubeconfig)
                else:
                    result = await self._stock(role, settings, cr=cr, kubeconfig=access.kubeconfig)
        assert (result.way, result.succeeded) == (way, True), result.failures
        assert not list(self.folder.glob("k8srcp-*")), "files of discovery pile up"

    async def _stock(self, role: Path, settings: dict[str, Any], **request: Any) -> RunResult:
        environment = {**settings["environment"], "TMPDIR": str(self.folder)}
        environment["ANSIBLE_HOME"] = str(self.folder / "home")
        runner = StockRunner(
            RunnerSettings(
                root=self.folder / "root",
                collections_path=settings["collections_path"],
                environment=environment,
            )
        )
        events: list[RunEvent] = []
        try:
            asked = request_for(role, "stock-run", self.folder, **request)
            return await (await runner.start(asked, events.append)).result()
        finally:
            await runner.close()


def _below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


@pytest.fixture
async def plays(
    cluster: Cluster, namespace: str, tmp_path: Path, helm_program: Path
) -> AsyncIterator[Plays]:
    folders = [helm_program.parent, find_binaries()["kubectl"].parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    api = _AnyRight(cluster, tmp_path)
    await api.open()
    yield Plays(api, cluster, namespace, tmp_path, path)
    await api.close()


@asynccontextmanager
async def repository(folder: Path, helm_program: Path) -> AsyncIterator[str]:
    """The chart in a repository of its own."""
    for name, text in _below("tiny", CHART).items():
        write(folder / name, text)
    packed = folder / "repository"
    for command in (f"package {folder}/tiny -d {packed}", f"repo index {packed}"):
        process = await asyncio.create_subprocess_exec(helm_program, *command.split())
        assert await process.wait() == 0
    files = {path.name: path.read_bytes() for path in packed.iterdir()}

    async def serve(request: web.Request) -> web.Response:
        return web.Response(body=files[request.match_info["name"]])

    app = web.Application()
    app.router.add_get("/{name}", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.nightly
async def test_release_is_installed_upgraded_and_uninstalled(plays: Plays) -> None:
    await plays.run("warm", core_tasks.HELM)


def test_all_modules_of_the_collection_are_used() -> None:
    folder = COLLECTIONS / "ansible_collections/kubernetes/core/plugins/modules"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "helm_registry_auth"}
    tasks = yaml.safe_dump([getattr(core_tasks, group) for group in GROUPS])
    assert {name for name in modules if f"kubernetes.core.{name}:" not in tasks} == set()


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["warm", "stock"])
@pytest.mark.parametrize("group", GROUPS)
async def test_modules_work_in_both_ways(
    plays: Plays, way: str, group: str, tmp_path: Path, helm_program: Path
) -> None:
    node = f"node-{unique_name()}"
    plays.cluster.api.create("/api/v1/nodes", {"metadata": {"name": node}})
    try:
        async with repository(tmp_path, helm_program) as url:
            await plays.run(way, getattr(core_tasks, group), node=node, repository=url)
    finally:
        plays.cluster.api.delete(f"/api/v1/nodes/{node}")
