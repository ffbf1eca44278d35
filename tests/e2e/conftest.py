"""Fixtures of this tier: a client to look at the world with, kinds, and engines.

A module whose tests need no engine of their own sets `SHARED_ENGINE = (folder, *flags)`, and its tests
use `shared_engine`. An engine takes 3 s of CPU time from its start through its first run to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PROJECT, EngineProcess
from tests.e2e.shared import SharedEngine
from tests.e2e.wanted_kinds import WANTED_KINDS
from tests.fixtures.crds import crd_for, install

StartEngine = Callable[..., EngineProcess]
_SHARED = pytest.StashKey[SharedEngine]()
MEMCACHED_CRD: Json = yaml.safe_load(
    (PROJECT / "config" / "crd" / "bases" / "cache.example.com_memcacheds.yaml").read_text()
)


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[Client]:
    """The API server, as the administrator."""
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


@pytest.fixture
async def memcached(api: Client) -> None:
    """The kind of the project in this folder."""
    await install(api, MEMCACHED_CRD)


@pytest.fixture
async def wanted(api: Client) -> None:
    """The kinds of the folder `wanted`."""
    for gvk in WANTED_KINDS:
        await install(api, crd_for(gvk))


@pytest.fixture(scope="module")
def engine_of_module(
    cluster: Cluster, request: pytest.FixtureRequest, kinds_of_module: None
) -> Iterator[SharedEngine]:
    """The engine that the module's tests share."""
    folder, *flags = request.module.SHARED_ENGINE
    engine = SharedEngine(folder, cluster.kubeconfig, flags)
    request.config.stash[_SHARED] = engine
    try:
        engine.wait_ready()
        yield engine
    finally:
        engine.clean_up()


@pytest.fixture(scope="module")
def kinds_of_module(cluster: Cluster, request: pytest.FixtureRequest) -> None:
    """The CRDs that the module names in `KINDS`, so that its engine finds them at its start."""
    with asyncio.Runner() as runner:
        runner.run(_install_all(cluster, getattr(request.module, "KINDS", ())))


async def _install_all(cluster: Cluster, definitions: Iterable[Json]) -> None:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        for definition in definitions:
            await install(client, definition)


@pytest.fixture
def shared_engine(
    engine_of_module: SharedEngine, request: pytest.FixtureRequest, namespace: str
) -> Iterator[SharedEngine]:
    """The module's engine; what it logged during the test is shown when the test fails."""
    engine_of_module.begin_test(namespace)
    yield engine_of_module
    _show([engine_of_module])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In each module, tests that share an engine come first: engines of their own end that one."""

    def order(item: pytest.Item) -> tuple[int, bool]:
        shares = "shared_engine" in getattr(item, "fixturenames", ())
        return files.setdefault(item.path, len(files)), not shares

    files: dict[Path, int] = {}
    items.sort(key=order)


@pytest.fixture
def start_engine(
    cluster: Cluster, tmp_path: Path, namespace: str, request: pytest.FixtureRequest
) -> Iterator[StartEngine]:
    """A factory: `start_engine(folder, *flags, namespaces=..., kubeconfig=..., **environment)`.

    Watches the test's namespace by default. What it logged is shown when the test fails. An engine
    that the module's tests share ends before: both would run the same objects.
    """
    if (shared := request.config.stash.get(_SHARED, None)) is not None:
        shared.clean_up()
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
