"""An engine with a page, and an object in each of two namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PROJECT, EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.page.reading import Browser, token_of
from tests.e2e.shared import SharedEngine
from tests.e2e.skipping import MEMCACHED

WITH_PAGE = (PROJECT, "--page-bind-address=127.0.0.1:0")


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
    shared_engine: SharedEngine,
) -> Shown:
    """Users of the cluster log in."""
    shared_engine.begin_test(namespace, other_namespace)
    for each in (namespace, other_namespace):
        await api.create(MEMCACHED, cr(MEMCACHED, each, size=1))
    return Shown(shared_engine, cluster, namespace, other_namespace)
