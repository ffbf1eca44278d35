"""Fixtures of this tier: a client to look at the world with, kinds, and engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PROJECT, EngineProcess
from tests.e2e.kinds import install
from tests.e2e.wanted_kinds import WANTED_KINDS
from tests.fixtures.crds import crd_for

StartEngine = Callable[..., EngineProcess]
_CRD = PROJECT / "config" / "crd" / "bases" / "cache.example.com_memcacheds.yaml"


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[Client]:
    """The API server, as the administrator."""
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


@pytest.fixture
async def memcached(api: Client) -> None:
    """The kind of the project in this folder."""
    await install(api, yaml.safe_load(_CRD.read_text()))


@pytest.fixture
async def wanted(api: Client) -> None:
    """The kinds of the folder `wanted`."""
    for gvk in WANTED_KINDS:
        await install(api, crd_for(gvk))


@pytest.fixture
def start_engine(cluster: Cluster, tmp_path: Path, namespace: str) -> Iterator[StartEngine]:
    """A factory: `start_engine(folder, *flags, namespaces=..., kubeconfig=..., **environment)`.

    Watches the test's namespace unless told otherwise. What it said is shown when the test fails.
    """
    engines: list[EngineProcess] = []

    def start(
        folder: Path,
        *flags: str,
        namespaces: str = namespace,
        kubeconfig: Path = cluster.kubeconfig,
        environment: Mapping[str, str] | None = None,
    ) -> EngineProcess:
        scratch = tmp_path / f"engine-{len(engines)}"
        engine = EngineProcess(
            folder,
            scratch,
            kubeconfig=kubeconfig,
            flags=flags,
            environment={"WATCH_NAMESPACE": namespaces} | dict(environment or {}),
        )
        engines.append(engine)
        return engine

    with ExitStack() as ending:
        ending.callback(_show, engines)
        yield start
        for engine in engines:
            ending.callback(engine.clean_up)


def _show(engines: list[EngineProcess]) -> None:
    for number, engine in enumerate(engines):
        print(f"--- engine {number} said\n{engine.log}--- its plays said\n{engine.play_output}")
