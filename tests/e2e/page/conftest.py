"""An engine with a page, and an object in each of two namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PROJECT, EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.page.reading import Browser, token_of
from tests.e2e.skipping import MEMCACHED


@dataclass
class Shown:
    """What the page of this engine shows."""

    engine: EngineProcess
    cluster: Cluster
    namespace: str
    other: str  # namespace

    def path(self, namespace: str = "", name: str = "x") -> str:
        return f"/cr/cache.example.com/v1alpha1/Memcached/{namespace or self.namespace}/{name}"

    @property
    def port(self) -> int:
        return self.engine.ports["page"]

    def user(self, name: str) -> Browser:
        """One who has rights in the first namespace alone."""
        return Browser(self.port, token=token_of(self.cluster, self.namespace, name))


@pytest.fixture
def other_namespace(cluster: Cluster, namespace: str) -> Iterator[str]:
    name = f"other-{namespace[-6:]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    cluster.api.create("/api/v1/namespaces", body)
    yield name
    cluster.api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
async def shown(
    api: Client,
    cluster: Cluster,
    namespace: str,
    other_namespace: str,
    memcached: None,
    start_engine: StartEngine,
) -> Shown:
    """Users of the cluster log in."""
    for each in (namespace, other_namespace):
        await api.create(MEMCACHED, cr(MEMCACHED, each, size=1))
    engine = start_engine(
        PROJECT,
        "--page-bind-address=127.0.0.1:0",
        namespaces=f"{namespace},{other_namespace}",
    )
    engine.wait_ready()
    return Shown(engine, cluster, namespace, other_namespace)
