"""Machines whose disk may not grow, that are stopped or changed by a webhook, and their operations."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, UnprocessableError
from tests.e2e.kinds import is_gone, pause
from tests.e2e.own.cases import CLAIM, POD
from tests.e2e.own.snapshot_api import SNAPSHOT, snapshots_served
from tests.e2e.own.world import (
    IMAGE,
    MACHINE,
    OPERATION,
    create,
    make,
    resume,
    wait,
    wait_reason,
)

pytestmark = pytest.mark.usefixtures("engine")

NAMESPACE = Gvk("", "v1", "Namespace")
QUOTA = Gvk("", "v1", "ResourceQuota")
POLICY = Gvk("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy")
BINDING = Gvk("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding")


async def change(api: Client, namespace: str, **spec: object) -> None:
    await api.merge_patch(MACHINE, namespace, "m", {"spec": spec})


async def uid(api: Client, namespace: str, gvk: Gvk = POD, name: str = "m") -> str:
    return str((await api.get(gvk, namespace, name))["metadata"]["uid"])


async def operate(api: Client, namespace: str, name: str, kind: str, **spec: object) -> None:
    body = {"machine": "m", "type": kind, **spec}
    await api.create(OPERATION, make(OPERATION, namespace, name, body))


@pytest.mark.nightly
async def test_disk_that_may_not_grow_is_reported_while_the_pod_is_cared_for(
    api: Client, namespace: str
) -> None:
    restricted = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    await api.merge_patch(NAMESPACE, "", namespace, restricted)
    hard = {"hard": {"requests.storage": "2Gi"}}
    await api.create(QUOTA, make(QUOTA, namespace, "q", hard))
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE, "disk": 2})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")

    await change(api, namespace, disk=5)
    said = await wait_reason(api, MACHINE, namespace, "m", "DiskRefused")
    assert "exceeded quota" in said["message"]
    assert said["message"].endswith("; the pod is ready")
    lost = await uid(api, namespace)
    await api.delete(POD, namespace, "m")

    async def is_replaced() -> bool:
        pod = await api.get(POD, namespace, "m")
        return bool(pod["metadata"]["uid"] != lost and pod["status"]["phase"] == "Running")

    await wait(is_replaced)
    with pytest.raises(UnprocessableError, match="disk cannot shrink below the size that it has"):
        await change(api, namespace, disk=1)
    await change(api, namespace, disk=2)
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")


@pytest.mark.nightly
async def test_stopped_machine_has_no_pod_and_starts_again_with_its_disk(
    api: Client, namespace: str
) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    disk = await uid(api, namespace, CLAIM, "m-disk")

    await change(api, namespace, running=False)
    await wait_reason(api, MACHINE, namespace, "m", "Stopped")
    assert await is_gone(api, POD, namespace, "m")
    await operate(api, namespace, "o", "Reboot")
    await wait_reason(api, OPERATION, namespace, "o", "MachineStopped")

    await change(api, namespace, running=True)
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    assert await uid(api, namespace, CLAIM, "m-disk") == disk


async def test_pod_that_a_webhook_changed_is_left_alone(api: Client, namespace: str) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    made = await api.get(POD, namespace, "m")
    await pause(api, MACHINE, namespace, "m")
    await api.delete(POD, namespace, "m")

    async def is_removed() -> bool:
        return await is_gone(api, POD, namespace, "m")

    await wait(is_removed)
    # As the API server has it where webhooks use a mirror and add a sidecar.
    ours = {"name": "machine", "image": "mirror.local/app:1"}
    sidecar = {"name": "sidecar", "image": "mesh.local/proxy:1"}
    changed = make(POD, namespace, "m", {"containers": [sidecar, ours]})
    kept = ("labels", "annotations", "ownerReferences")
    changed["metadata"] |= {key: made["metadata"][key] for key in kept}
    before = (await api.create(POD, changed))["metadata"]["uid"]
    await resume(api, MACHINE, namespace, "m")
    await change(api, namespace, disk=2)

    async def is_seen() -> bool:
        status = (await api.get(MACHINE, namespace, "m"))["status"]
        seen: Json = status["podSeen"]
        return bool(seen["uid"] == before and status["diskSize"] == 2)

    await wait(is_seen)
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    assert await uid(api, namespace) == before


@pytest.fixture
async def no_deletion(api: Client, namespace: str) -> AsyncIterator[None]:
    """Pods of the namespace cannot be deleted."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
        "operations": ["DELETE"],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "message": "the auditors are at work"}],
    }
    name = f"hold-{namespace}"
    match = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    bound = {"policyName": name, "validationActions": ["Deny"], "matchResources": match}
    for gvk, body in ((POLICY, spec), (BINDING, bound)):
        manifest = make(gvk, "", name, body)
        del manifest["metadata"]["namespace"]
        await api.create(gvk, manifest)
    yield
    for gvk in (BINDING, POLICY):
        if not await is_gone(api, gvk, "", name):
            await api.delete(gvk, "", name)


@pytest.mark.nightly
async def test_operation_that_may_not_remove_the_pod_fails_and_the_next_one_goes(
    api: Client, namespace: str, no_deletion: None
) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    before = await uid(api, namespace)
    await operate(api, namespace, "first", "Reboot", timeoutSeconds=4)
    await operate(api, namespace, "second", "Reboot")

    said = await wait_reason(api, OPERATION, namespace, "first", "TimedOut")
    assert "the auditors are at work" in said["message"]
    assert await uid(api, namespace) == before
    await api.delete(BINDING, "", f"hold-{namespace}")
    await wait_reason(api, OPERATION, namespace, "second", "Succeeded")
    assert await uid(api, namespace) != before


@pytest.mark.parametrize(
    ("kind", "name"), [(CLAIM, "m-disk"), pytest.param(POD, "m", marks=pytest.mark.nightly)]
)
async def test_labels_that_a_client_removes_from_disk_or_pod_come_back(
    api: Client, namespace: str, kind: Gvk, name: str
) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    labels = (await api.get(kind, namespace, name))["metadata"]["labels"]
    nothing = {"metadata": {"labels": dict.fromkeys(labels)}}
    assert "labels" not in (await api.merge_patch(kind, namespace, name, nothing))["metadata"]

    async def are_back() -> bool:
        metadata = (await api.get(kind, namespace, name))["metadata"]
        return bool(metadata.get("labels") == labels)

    await wait(are_back)


@pytest.mark.nightly
async def test_operation_whose_last_run_was_cut_off_says_again_how_it_ended(
    api: Client, namespace: str
) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await wait_reason(api, MACHINE, namespace, "m", "PodReady")
    await operate(api, namespace, "o", "Reboot")
    said = await wait_reason(api, OPERATION, namespace, "o", "Succeeded")

    # As it was left by a run that was killed after its last report, and one that had nothing to do.
    rows = (await api.get(OPERATION, namespace, "o"))["status"]["conditions"]
    cut_off = {"reason": "RunSucceeded", "message": "the last run succeeded"}
    rows = [{**row, **cut_off} if row["type"] == "Ready" else row for row in rows]
    lost = {"status": {"conditions": rows}}
    await pause(api, OPERATION, namespace, "o")
    await api.merge_patch(OPERATION, namespace, "o", lost, subresource="status")
    # A run, as the retry is one.
    await resume(api, OPERATION, namespace, "o")
    again = await wait_reason(api, OPERATION, namespace, "o", "Succeeded")
    assert again["message"] == said["message"]


@pytest.mark.nightly
async def test_snapshot_outlives_the_operation_that_made_it(api: Client, namespace: str) -> None:
    await create(api, [make(MACHINE, namespace, "m", {"image": IMAGE})])
    await operate(api, namespace, "early", "Snapshot")
    said = await wait_reason(api, OPERATION, namespace, "early", "SnapshotsNotServed")
    assert said["status"] == "False"

    async with snapshots_served(api):
        await operate(api, namespace, "kept", "Snapshot", ttlSecondsAfterFinished=1)
        made: Json = await wait(lambda: api.get(SNAPSHOT, namespace, "kept"))
        assert made["spec"]["source"] == {"persistentVolumeClaimName": "m-disk"}
        ready = {"status": {"readyToUse": True}}
        await api.merge_patch(SNAPSHOT, namespace, "kept", ready, subresource="status")

        async def is_over() -> bool:
            return await is_gone(api, OPERATION, namespace, "kept")

        await wait(is_over)
        left = (await api.get(SNAPSHOT, namespace, "kept"))["metadata"]
        assert "ownerReferences" not in left
