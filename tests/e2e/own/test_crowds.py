"""CRs that are deleted in the middle of something, wait for something, or come all at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.own.cases import CASES, CLAIM, DEPLOYMENT, POD, SERVICE
from tests.e2e.own.world import (
    APPOPERATOR,
    IMAGE,
    MACHINE,
    OPERATION,
    PARTS,
    POD_SET,
    create,
    create_sample,
    make,
    pod_spec,
    wait,
    wait_reason,
    wait_settled,
)

pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.nightly
async def test_deleted_in_the_middle_nothing_is_left(api: Client, namespace: str) -> None:
    pod_set = {"replicas": 12, "template": {"spec": pod_spec()}}
    crs = [
        make(POD_SET, namespace, "p", pod_set),
        make(APPOPERATOR, namespace, "a", {"image": PARTS, "replicas": 12, "port": 80}),
        make(MACHINE, namespace, "m", {"image": IMAGE}),
    ]
    await create(api, crs)
    await wait(lambda: api.get(POD, namespace, "p-0"))
    await wait(lambda: api.get(POD, namespace, "m"))
    await create(api, [make(OPERATION, namespace, "o", {"machine": "m", "type": "Rebuild"})])
    await wait_reason(api, OPERATION, namespace, "o", "Running")
    for cr in crs:
        gvk = Gvk.parse(cr["apiVersion"], cr["kind"])
        await api.delete(gvk, namespace, cr["metadata"]["name"])

    async def is_empty() -> bool:
        kinds = (POD_SET, APPOPERATOR, MACHINE, OPERATION, POD, CLAIM, DEPLOYMENT, SERVICE)
        return not any([await api.list_all(gvk, namespace) for gvk in kinds])

    await wait(is_empty)


@pytest.mark.nightly
async def test_rebuild_goes_on_where_a_new_pod_took_hold_of_the_old_disk(
    api: Client, namespace: str
) -> None:
    machine = make(MACHINE, namespace, "m", {"image": IMAGE})
    await create(api, [machine])
    await wait_settled(api, [machine])
    disk = (await api.get(CLAIM, namespace, "m-disk"))["metadata"]["uid"]
    operation = make(OPERATION, namespace, "o", {"machine": "m", "type": "Rebuild"})
    operation["metadata"]["annotations"] = {"rolecall.dev/paused": "true"}
    await create(api, [operation])
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    begun = {"phase": "Running", "startTime": now, "replaced": {"pod": "gone", "disk": disk}}
    await api.merge_patch(OPERATION, namespace, "o", {"status": begun}, subresource="status")
    resumed = {"metadata": {"annotations": {"rolecall.dev/paused": None}}}
    await api.merge_patch(OPERATION, namespace, "o", resumed)

    await wait_reason(api, OPERATION, namespace, "o", "Succeeded")
    assert (await api.get(CLAIM, namespace, "m-disk"))["metadata"]["uid"] != disk


@pytest.mark.nightly
async def test_many_of_each_kind_at_once_become_ready(api: Client, namespace: str) -> None:
    samples = (
        create_sample(api, case, namespace, f"{case.sample}-{number}")
        for case in CASES
        for number in range(3)
    )
    await asyncio.gather(*samples)


async def test_operation_of_a_machine_that_is_not_there_waits_and_says_so(
    api: Client, namespace: str
) -> None:
    await api.create(
        OPERATION, make(OPERATION, namespace, "x", {"machine": "none", "type": "Reboot"})
    )
    said = await wait_reason(api, OPERATION, namespace, "x", "Pending")
    assert said["message"] == "there is no Machine `none`"
