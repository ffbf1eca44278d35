"""The fake keeps the same contract as the real API server."""

from __future__ import annotations

import pytest

from tests.unit.reconcile.cluster_contract import ClusterContract, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.workqueue.keys import APP


class TestFake(ClusterContract):
    @pytest.fixture
    def shop(self) -> Shop:
        return Shop(FakeCluster(), APP, "default")
