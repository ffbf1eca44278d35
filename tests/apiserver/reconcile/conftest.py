"""The story against a real API server; only the runs are scripted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import pytest

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import (
    AlreadyExistsError,
    Client,
    Credentials,
    NoSuchKindError,
    NotFoundError,
)
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reconcile.crds import ALL_KINDS, STORY, all_crds
from tests.fixtures.crds import CRD
from tests.fixtures.eventually import eventually_async
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """The engine's own client, with the kinds of these tests served."""
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        for crd in all_crds():
            with suppress(AlreadyExistsError):
                await client.create(CRD, crd)
        for gvk in ALL_KINDS:
            await eventually_async(partial(_is_served, client, gvk), ignoring=(NoSuchKindError,))
        yield client


@pytest.fixture
def shop(client: Client, namespace: str) -> Shop:
    return Shop(client, STORY, namespace)


@pytest.fixture
def setting(shop: Shop) -> Setting:
    return Setting(shop, watch_of(STORY), SystemClock())


@pytest.fixture
def holding_setting(shop: Shop) -> Setting:
    """A setting whose watch has a finalizer."""
    return Setting(shop, watch_of(STORY, with_finalizer=True), SystemClock())


async def _is_served(client: Client, gvk: Gvk) -> bool:
    try:
        await client.get(gvk, "default", "missing")
    except NotFoundError:
        return True
    return False
