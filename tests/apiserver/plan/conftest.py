from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from tests.apiserver.plan.harness import PlanBench, plan_bench


@pytest.fixture
async def bench(cluster: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[PlanBench]:
    """A planner before a real API server, in a namespace of its own."""
    async with plan_bench(cluster, namespace, tmp_path) as opened:
        yield opened
