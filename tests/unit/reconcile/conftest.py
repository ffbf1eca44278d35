"""What tests of the story ask for."""

from __future__ import annotations

import pytest

from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def fake() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def shop(fake: FakeCluster) -> Shop:
    return Shop(fake, APP, "default")


@pytest.fixture
def setting(shop: Shop, clock: VirtualClock) -> Setting:
    return Setting(shop, watch_of(), clock)


@pytest.fixture
def holding_setting(shop: Shop, clock: VirtualClock) -> Setting:
    """A setting whose watch has a finalizer."""
    return Setting(shop, watch_of(with_finalizer=True), clock)
