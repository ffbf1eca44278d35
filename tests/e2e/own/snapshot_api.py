"""The API of snapshots, which a cluster may have, and lose while operators run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.kinds import is_gone
from tests.e2e.own.world import wait
from tests.fixtures.crds import CRD, crd_for, create_kind

SNAPSHOT = Gvk("snapshot.storage.k8s.io", "v1", "VolumeSnapshot")


@asynccontextmanager
async def snapshots_served(api: Client) -> AsyncIterator[None]:
    """For as long as the block takes."""
    crd = crd_for(SNAPSHOT)
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    name = crd["metadata"]["name"]

    async def is_removed() -> bool:
        return await is_gone(api, CRD, "", name)

    await create_kind(api, crd)
    try:
        yield
    finally:
        await api.delete(CRD, "", name)
        await wait(is_removed)
