"""The API of snapshots, which a cluster may have, and lose while operators run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.kinds import is_gone
from tests.e2e.own.world import wait
from tests.fixtures.crds import crd_for

SNAPSHOT = Gvk("snapshot.storage.k8s.io", "v1", "VolumeSnapshot")
_CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")


@asynccontextmanager
async def snapshots_served(api: Client) -> AsyncIterator[None]:
    """For as long as the block takes."""
    crd = crd_for(SNAPSHOT)
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    name = crd["metadata"]["name"]
    await api.create(_CRD, crd)

    async def is_served() -> bool:
        rows = (await api.get(_CRD, "", name))["status"]["conditions"]
        assert rows is not None  # the API server has not processed it yet
        return any((row["type"], row["status"]) == ("Established", "True") for row in rows)

    async def is_removed() -> bool:
        return await is_gone(api, _CRD, "", name)

    try:
        await wait(is_served)
        yield
    finally:
        await api.delete(_CRD, "", name)
        await wait(is_removed)
