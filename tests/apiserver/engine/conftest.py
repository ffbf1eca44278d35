"""Engines inside of the test's process, on the project of the kinds whose runs are looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from rolecall_dev.testing import EngineInProcess, Script, ScriptedPlay
from tests.e2e.engine import PROJECT, ROOT
from tests.e2e.wanted_kinds import WANTED, WANTED_KINDS
from tests.fixtures.crds import crd_for, install

_ENVIRONMENT = {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections")}
StartEngine = Callable[..., Awaitable[EngineInProcess]]


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[Client]:
    """The API server, as the administrator."""
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


@pytest.fixture
async def wanted(api: Client) -> None:
    """The kinds of the project `wanted`."""
    for gvk in WANTED_KINDS:
        await install(api, crd_for(gvk))


@pytest.fixture
async def start_engine(cluster: Cluster, namespace: str) -> AsyncIterator[StartEngine]:
    """A factory: `await start_engine(plays, *flags)`; the engine is ready, and watches the namespace.

    `plays` is a `ScriptedPlay`, or a dict of scripts by kind. The log is shown when the test fails.
    """
    engines: list[EngineInProcess] = []

    async def start(
        plays: ScriptedPlay | Mapping[str, Script],
        *flags: str,
        project: Path = WANTED,
        kubeconfig: Path = cluster.kubeconfig,
        environment: Mapping[str, str] | None = None,
        artifacts: Path | None = None,
    ) -> EngineInProcess:
        engine = EngineInProcess(
            project,
            plays if isinstance(plays, ScriptedPlay) else ScriptedPlay(plays),
            *flags,
            kubeconfig=kubeconfig,
            environment={**_ENVIRONMENT, "WATCH_NAMESPACE": namespace, **(environment or {})},
            artifacts=artifacts,
        )
        engines.append(engine)
        return await engine.start()

    async with AsyncExitStack() as ending:
        for_log = ending.callback
        for_log(_show, engines)
        yield start
        for engine in engines:
            ending.push_async_callback(engine.clean_up)
            ending.push_async_callback(engine.stop)


def _show(engines: list[EngineInProcess]) -> None:
    for number, engine in enumerate(engines):
        print(f"--- log of engine {number}\n{engine.log}--- output of plays\n{engine.play_output}")


@pytest.fixture
async def memcached(api: Client) -> None:
    """The kind of the project in tests/e2e/project."""
    crd = PROJECT / "config" / "crd" / "bases" / "cache.example.com_memcacheds.yaml"
    await install(api, yaml.safe_load(crd.read_text()))
