"""What becomes of a DemoVolume's claim: its class, its size, its owner, and where it begins."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.own.cases import CLAIM
from tests.e2e.own.snapshot_api import SNAPSHOT, snapshots_served
from tests.e2e.own.world import DEMO_VOLUME, create, make, wait, wait_reason

pytestmark = pytest.mark.usefixtures("engine")

CLASS = Gvk("storage.k8s.io", "v1", "StorageClass")


def late_class(name: str) -> Json:
    """A class that makes volumes for the first pod, and no provisioner that would."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "example.com/none",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def volume(namespace: str, name: str, **spec: object) -> Json:
    return make(DEMO_VOLUME, namespace, name, {"name": name, "size": 1, **spec})


async def test_retained_claim_stays_without_an_owner_when_its_volume_is_deleted(
    api: Client, namespace: str
) -> None:
    await create(
        api, [volume(namespace, "x", retainPolicy="Retain", accessModes=["ReadWriteMany"])]
    )
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "Bound")
    kept = await api.get(CLAIM, namespace, "x")
    assert kept["spec"]["accessModes"] == ["ReadWriteMany"]
    assert "ownerReferences" not in kept["metadata"]

    # Grown by hand beyond what is wanted: neither made smaller nor growing for ever.
    await api.merge_patch(CLAIM, namespace, "x", _asking_for("3Gi"))
    await wait(lambda: _has(api, namespace, "3Gi"))
    await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"size": 2}})
    said = await wait_reason(api, DEMO_VOLUME, namespace, "x", "Bound")
    assert "3Gi, more than 2Gi" in said["message"]

    await api.delete(DEMO_VOLUME, namespace, "x")
    await create(api, [volume(namespace, "x")])
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "ForeignClaim")
    now = (await api.get(CLAIM, namespace, "x"))["metadata"]
    assert (now["uid"], "ownerReferences" in now) == (kept["metadata"]["uid"], False)


async def test_size_that_the_api_server_spells_otherwise_is_not_growing_for_ever(
    api: Client, namespace: str
) -> None:
    await create(api, [volume(namespace, "x", size=1024)])
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "Bound")
    claim = await api.get(CLAIM, namespace, "x")
    assert claim["spec"]["resources"]["requests"]["storage"] == "1Ti"


def _asking_for(size: str) -> Json:
    return {"spec": {"resources": {"requests": {"storage": size}}}}


async def _has(api: Client, namespace: str, size: str) -> bool:
    claim = await api.get(CLAIM, namespace, "x")
    return bool(claim["status"]["capacity"]["storage"] == size)


async def test_claim_that_waits_for_its_consumer_says_so_and_goes_on_by_an_event(
    api: Client, namespace: str
) -> None:
    await api.create(CLASS, late_class(namespace))
    await create(api, [volume(namespace, "x", storageClassName=namespace)])
    said = await wait_reason(api, DEMO_VOLUME, namespace, "x", "WaitingForConsumer")
    assert f"`{namespace}`" in said["message"]

    # As the scheduler does it; the next look without an event is minutes away.
    chosen = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "node-1"}}}
    await api.merge_patch(CLAIM, namespace, "x", chosen)
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "ClaimPending")
    await api.delete(CLASS, "", namespace)


@pytest.mark.nightly
async def test_volume_begins_with_a_clone_and_snapshots_need_their_api(
    api: Client, namespace: str
) -> None:
    await create(api, [volume(namespace, "copy", cloneFrom="x")])
    await wait_reason(api, DEMO_VOLUME, namespace, "copy", "SourceMissing")
    with pytest.raises(NotFoundError):
        await api.get(CLAIM, namespace, "copy")

    await create(api, [volume(namespace, "x", snapshots=["one"])])
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "SnapshotsNotServed")
    # No provisioner here can clone; that the claim asks for it is all that we do.
    await wait_reason(api, DEMO_VOLUME, namespace, "copy", "ClaimPending")
    source = (await api.get(CLAIM, namespace, "copy"))["spec"]["dataSource"]
    assert (source["kind"], source["name"]) == ("PersistentVolumeClaim", "x")


@pytest.mark.nightly
async def test_snapshots_leave_the_status_with_the_field_that_asked_for_them(
    api: Client, namespace: str
) -> None:
    await create(api, [volume(namespace, "x", snapshots=["one"])])
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "SnapshotsNotServed")
    assert (await api.get(DEMO_VOLUME, namespace, "x"))["status"]["snapshots"] == []

    await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"snapshots": None}})

    async def is_taken_back() -> bool:
        return "snapshots" not in (await api.get(DEMO_VOLUME, namespace, "x"))["status"]

    await wait(is_taken_back)


@pytest.mark.nightly
async def test_snapshots_whose_api_was_removed_are_not_served_rather_than_page_not_found(
    api: Client, namespace: str
) -> None:
    async with snapshots_served(api):
        await create(api, [volume(namespace, "x", snapshots=["one"])])
        await wait(lambda: api.get(SNAPSHOT, namespace, "x-one"))
        await create(api, [volume(namespace, "back", restoreFromSnapshot="x-one")])
        await wait_reason(api, DEMO_VOLUME, namespace, "back", "SourceNotReady")
    await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"size": 2}})
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "SnapshotsNotServed")
    await api.merge_patch(DEMO_VOLUME, namespace, "back", {"spec": {"size": 2}})
    await wait_reason(api, DEMO_VOLUME, namespace, "back", "SnapshotsNotServed")


@pytest.mark.nightly
async def test_snapshots_of_a_retained_claim_outlive_the_volume(
    api: Client, namespace: str
) -> None:
    async with snapshots_served(api):
        await create(api, [volume(namespace, "x", retainPolicy="Retain", snapshots=["one"])])

        async def has_owners(count: int) -> bool:
            found = (await api.get(SNAPSHOT, namespace, "x-one"))["metadata"]
            return len(found.get("ownerReferences", [])) == count

        await wait(lambda: has_owners(0))
        await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"retainPolicy": "Delete"}})
        await wait(lambda: has_owners(1))
        await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"retainPolicy": "Retain"}})
        await wait(lambda: has_owners(0))

        async def claim_has_no_owner() -> bool:
            return "ownerReferences" not in (await api.get(CLAIM, namespace, "x"))["metadata"]

        await wait(claim_has_no_owner)


@pytest.mark.nightly
async def test_scheduled_snapshot_is_made_and_those_beyond_keep_are_deleted(
    api: Client, namespace: str
) -> None:
    async def made() -> list[Json]:
        return await api.list_all(SNAPSHOT, namespace)

    async def there_are(count: int) -> bool:
        return len(await made()) == count

    async with snapshots_served(api):
        schedule = {"every": "6h", "keep": 2}
        await create(api, [volume(namespace, "x", snapshotSchedule=schedule)])
        await wait(lambda: there_are(1))
        (first,) = await made()
        labels = first["metadata"]["labels"]
        for name in ("x-1", "x-2"):
            await api.create(SNAPSHOT, {**make(SNAPSHOT, namespace, name, first["spec"])})
            await api.merge_patch(SNAPSHOT, namespace, name, {"metadata": {"labels": labels}})
        for each in await made():
            ready = {"status": {"readyToUse": True}}
            await api.merge_patch(
                SNAPSHOT, namespace, each["metadata"]["name"], ready, subresource="status"
            )
        await api.merge_patch(
            DEMO_VOLUME, namespace, "x", {"spec": {"snapshotSchedule": {"keep": 1}}}
        )
        await wait(lambda: there_are(1))
        await wait_reason(api, DEMO_VOLUME, namespace, "x", "Bound")


async def test_claim_without_a_volume_is_not_grown(api: Client, namespace: str) -> None:
    growing = {**late_class(namespace), "allowVolumeExpansion": True}
    await api.create(CLASS, growing)
    await create(api, [volume(namespace, "x", storageClassName=namespace)])
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "WaitingForConsumer")
    await api.merge_patch(DEMO_VOLUME, namespace, "x", {"spec": {"size": 2}})

    async def is_seen() -> bool:
        cr = await api.get(DEMO_VOLUME, namespace, "x")
        rows = {row["type"]: row for row in cr["status"]["conditions"]}
        is_new = cr["status"].get("observedGeneration") == cr["metadata"]["generation"]
        return bool(is_new and rows["Running"]["reason"] == "Successful")

    await wait(is_seen)
    await wait_reason(api, DEMO_VOLUME, namespace, "x", "WaitingForConsumer")
    claim = await api.get(CLAIM, namespace, "x")
    assert claim["spec"]["resources"]["requests"]["storage"] == "1Gi"
    await api.delete(CLASS, "", namespace)
