from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.runner import RunResult
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster
from tests.apiserver.warm.surroundings import ApiServer
from tests.fixtures.lacking import skip_or_fail
from tests.play.fidelity.harness import COLLECTIONS
from tests.play.warm.runs import CASE, Workshop, workshop


@pytest.fixture(scope="package", autouse=True)
def collections() -> None:
    """Modules of kubernetes.core are what all of this is about."""
    if not (COLLECTIONS / "ansible_collections/kubernetes").is_dir():
        skip_or_fail("collections of requirements.yml were not found\nhint: `make setup` does it")


@dataclass
class Bench:
    """A warm runner whose runs reach the API server as the engine lets them."""

    shop: Workshop
    api: ApiServer
    namespace: str

    async def case(self, name: str, **spec: Any) -> Json:
        """A CR."""
        return await self.api.made_case(self.namespace, name, spec)

    async def run(self, role: Path, cr: Json, **changes: Any) -> RunResult:
        """A run for the CR, with a credential that lasts as long as it."""
        watch = Watch(CASE, Play(role, is_role=True))
        async with self.api.proxy.issue_access("any", cr, watch) as access:
            return await self.shop.run(
                role,
                cr=cr,
                kubeconfig=access.kubeconfig,
                **changes,
            )


@pytest.fixture
async def api(cluster: Cluster, tmp_path: Path) -> AsyncIterator[ApiServer]:
    """A proxy of this test's own."""
    api = ApiServer(cluster, tmp_path)
    await api.open()
    yield api
    await api.close()


@pytest.fixture
def open_bench(api: ApiServer, namespace: str, tmp_path: Path) -> Iterator[Any]:
    """`async with open_bench(environment={...}) as bench:`"""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[Bench]:
        settings = {"collections_path": str(COLLECTIONS), **settings}
        async with workshop(tmp_path, **settings) as shop:
            yield Bench(shop, api, namespace)

    yield opened
