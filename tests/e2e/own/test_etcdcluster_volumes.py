"""What an EtcdCluster goes on with when a quota refuses larger volumes or the pods of backups."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, UnprocessableError
from tests.e2e.kinds import condition
from tests.e2e.own.cases import CLAIM
from tests.e2e.own.world import ETCD, create, make, wait, wait_settled

pytestmark = pytest.mark.usefixtures("engine")

JOB = Gvk("batch", "v1", "Job")
SET, QUOTA = Gvk("apps", "v1", "StatefulSet"), Gvk("", "v1", "ResourceQuota")
SPEC: Json = {"version": "3.6.16", "replicas": 1, "backupSchedule": "0 3 * * *"}


@pytest.mark.nightly
async def test_refused_growth_of_volumes_stops_nothing_else_and_can_be_taken_back(
    api: Client, namespace: str
) -> None:
    cr = make(ETCD, namespace, "grow", SPEC)
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")
    await api.create(QUOTA, make(QUOTA, namespace, "disks", {"hard": {"requests.storage": "2Gi"}}))
    await wait(lambda: _is_used(api, namespace))

    larger = {"spec": {"storageSize": "3Gi", "backupSize": "4Gi"}}
    await api.merge_patch(ETCD, namespace, "grow", larger)
    refused = await wait(lambda: _grown(api, namespace, "False"))
    assert "exceeded quota" in refused["message"]
    assert "storageSize" in refused["message"]
    assert "take it back to 1Gi" in refused["message"]
    assert "backupSize" in refused["message"]

    first = (await api.get(SET, namespace, "grow"))["metadata"]["uid"]
    await api.delete(SET, namespace, "grow")
    made = await wait(lambda: api.get(SET, namespace, "grow"))
    assert made["metadata"]["uid"] != first

    with pytest.raises(UnprocessableError, match="storageSize cannot shrink"):
        await api.merge_patch(ETCD, namespace, "grow", {"spec": {"storageSize": "512Mi"}})
    back = {"spec": {"storageSize": "1Gi", "backupSize": "1Gi"}}
    await api.merge_patch(ETCD, namespace, "grow", back)
    await wait(lambda: _grown(api, namespace, "True"))


@pytest.mark.nightly
async def test_backup_that_a_quota_blocks_says_which_field_fits_it_and_is_made_anew_once_it_is_set(
    api: Client, namespace: str
) -> None:
    cr = make(ETCD, namespace, "busy", SPEC)
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")
    hard = {"hard": {"limits.memory": "512Mi"}}
    await api.create(QUOTA, make(QUOTA, namespace, "compute", hard))
    await _ask_for_backup(api, namespace, "large")

    blocked = await wait(lambda: _backed_up(api, namespace, "BackupBlocked"))
    assert "exceeded quota: compute" in blocked["message"]
    assert "spec.backupResources" in blocked["message"]

    less = {"limits": {"cpu": "0.1", "memory": "64Mi"}, "requests": {"memory": "64Mi"}}
    await api.merge_patch(ETCD, namespace, "busy", {"spec": {"backupResources": less}})
    await wait(lambda: _fits(api, namespace, "busy-large", "64Mi"))
    await wait(lambda: _backed_up(api, namespace, "BackedUp"))


@pytest.mark.nightly
async def test_annotation_asks_for_a_backup_once(api: Client, namespace: str) -> None:
    cr = make(ETCD, namespace, "asked", {"version": "3.6.16", "replicas": 1})
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")

    asked: Json = {"metadata": {"annotations": {"mycompany.com/backup": "monday"}}}
    await api.merge_patch(ETCD, namespace, "asked", asked)
    job = await wait(lambda: api.get(JOB, namespace, "asked-monday"))

    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["command"] == ["etcdctl"]
    assert pod["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1Gi"}
    await wait(lambda: _is_reported(api, namespace))
    await api.get(CLAIM, namespace, "asked-backup")


async def _ask_for_backup(api: Client, namespace: str, name: str) -> None:
    asked: Json = {"metadata": {"annotations": {"mycompany.com/backup": name}}}
    await api.merge_patch(ETCD, namespace, "busy", asked)
    await wait(lambda: api.get(JOB, namespace, f"busy-{name}"))


async def _fits(api: Client, namespace: str, job: str, memory: str) -> bool:
    pod = (await api.get(JOB, namespace, job))["spec"]["template"]["spec"]
    return {each["resources"]["limits"]["memory"] for each in pod["containers"]} == {memory}


async def _backed_up(api: Client, namespace: str, reason: str) -> Json:
    found = condition(await api.get(ETCD, namespace, "busy"), "BackedUp")
    assert found["reason"] == reason
    return found


async def _is_reported(api: Client, namespace: str) -> bool:
    status = (await api.get(ETCD, namespace, "asked"))["status"]
    return bool(status.get("backupRequest") == "monday")


async def _grown(api: Client, namespace: str, status: str) -> Json:
    found = condition(await api.get(ETCD, namespace, "grow"), "VolumesGrown")
    assert found["status"] == status
    return found


async def _is_used(api: Client, namespace: str) -> bool:
    quota = await api.get(QUOTA, namespace, "disks")
    return bool(quota["status"]["used"]["requests.storage"] == "2Gi")
