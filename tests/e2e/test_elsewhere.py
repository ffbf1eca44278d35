"""The engine on a system without /proc and pidfd, against any cluster: the stock way, nothing less."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, PROJECT
from tests.e2e.kinds import cr, is_successful
from tests.fixtures.eventually import eventually_async
from tests.fixtures.macos import ON_MACOS

MEMCACHED = Gvk("cache.example.com", "v1alpha1", "Memcached")


@pytest.mark.nightly
@pytest.mark.usefixtures("memcached")
async def test_operator_reconciles_the_stock_way_on_macos(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT, environment=ON_MACOS).wait_ready()
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await eventually_async(
        lambda: api.get(MEMCACHED, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    assert "warm runs need Linux" in engine.log
    assert engine.stop() == 0
    assert "Traceback" not in engine.log
