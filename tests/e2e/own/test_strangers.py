"""Objects that were there before, under the name of a dependent, belong to another owner: they stay."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.own.cases import BUDGET, CLAIM, DEPLOYMENT, POD, SERVICE, Case
from tests.e2e.own.world import (
    APP,
    APPOPERATOR,
    CASE,
    ETCD,
    IMAGE,
    MACHINE,
    OPERATION,
    POD_SET,
    create_sample,
    make,
    pod_spec,
    wait,
    wait_reason,
)

pytestmark = pytest.mark.usefixtures("engine")


def their_deployment(namespace: str, name: str) -> Json:
    labels = {"app": "theirs"}
    template = {"metadata": {"labels": labels}, "spec": pod_spec()}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return make(DEPLOYMENT, namespace, name, spec)


def their_claim(namespace: str, name: str) -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return make(CLAIM, namespace, name, spec)


def their_service(namespace: str, name: str) -> Json:
    return make(SERVICE, namespace, name, {"ports": [{"name": "theirs", "port": 99}]})


@pytest.mark.nightly
async def test_deployment_and_service_of_another_client_are_not_touched(
    api: Client, namespace: str
) -> None:
    theirs = await api.create(DEPLOYMENT, their_deployment(namespace, "x"))
    await api.create(SERVICE, their_service(namespace, "x"))
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", {**APP, "port": 80}))
    said = await wait_reason(api, APPOPERATOR, namespace, "x", "NameTaken")
    assert "Deployment x and Service x of that name was there before" in said["message"]
    now = await api.get(DEPLOYMENT, namespace, "x")
    assert (now["spec"], "ownerReferences" in now["metadata"]) == (theirs["spec"], False)
    assert (await api.get(SERVICE, namespace, "x"))["spec"]["ports"][0]["port"] == 99

    await api.delete(DEPLOYMENT, namespace, "x")
    no_port = {"spec": {"port": None, "replicas": 1}}
    await api.merge_patch(APPOPERATOR, namespace, "x", no_port)
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    assert (await api.get(SERVICE, namespace, "x"))["spec"]["ports"][0]["port"] == 99


async def test_pods_and_disks_of_another_client_survive_machine_and_rebuild(
    api: Client, namespace: str
) -> None:
    pod = await api.create(POD, make(POD, namespace, "x", pod_spec()))
    disk = await api.create(CLAIM, their_claim(namespace, "x-disk"))
    await api.create(MACHINE, make(MACHINE, namespace, "x", {"image": IMAGE, "disk": 5}))
    said = await wait_reason(api, MACHINE, namespace, "x", "NameTaken")
    assert "Pod x and PersistentVolumeClaim x-disk were there before" in said["message"]

    rebuild = make(OPERATION, namespace, "x", {"machine": "x", "type": "Rebuild"})
    await api.create(OPERATION, rebuild)
    await wait_reason(api, OPERATION, namespace, "x", "Running")
    for gvk, theirs in ((POD, pod), (CLAIM, disk)):
        now = (await api.get(gvk, namespace, theirs["metadata"]["name"]))["metadata"]
        assert now["uid"] == theirs["metadata"]["uid"]
        assert "deletionTimestamp" not in now
        assert "labels" not in now


async def test_pod_set_skips_the_name_of_another_clients_pod(api: Client, namespace: str) -> None:
    await api.create(POD, make(POD, namespace, "x-0", pod_spec()))
    spec = {"replicas": 2, "template": {"spec": pod_spec("registry.example.com/ours:1")}}
    await api.create(POD_SET, make(POD_SET, namespace, "x", spec))
    await wait_reason(api, POD_SET, namespace, "x", "AllReady")
    assert (await api.get(POD_SET, namespace, "x"))["status"]["podNames"] == ["x-1", "x-2"]
    theirs = await api.get(POD, namespace, "x-0")
    assert theirs["spec"]["containers"][0]["image"] == IMAGE
    assert "ownerReferences" not in theirs["metadata"]


async def test_budget_of_another_client_keeps_an_etcd_cluster_from_starting(
    api: Client, namespace: str
) -> None:
    budget = {"maxUnavailable": 5, "selector": {"matchLabels": {"app": "theirs"}}}
    await api.create(BUDGET, make(BUDGET, namespace, "x", budget))
    await api.create(ETCD, make(ETCD, namespace, "x", {"version": "3.6.16"}))
    said = await wait_reason(api, ETCD, namespace, "x", "NameTaken")
    assert "PodDisruptionBudget x of that name was there before" in said["message"]
    assert (await api.get(BUDGET, namespace, "x"))["spec"]["maxUnavailable"] == 5


@pytest.mark.nightly
async def test_label_that_a_client_removed_from_a_dependent_does_not_make_it_foreign(
    api: Client, namespace: str
) -> None:
    for sample, mark in (
        ("mapping", "routing.rolecall.dev"),
        ("appoperator", "tools.rolecall.dev"),
    ):
        case = CASE[sample]
        await create_sample(api, case, namespace)
        no_mark = {"metadata": {"labels": {f"{mark}/owner": None}}}
        await api.merge_patch(case.dependent, namespace, case.dependent_name, no_mark)

        async def is_marked(case: Case = case, mark: str = mark) -> bool:
            found = await api.get(case.dependent, namespace, case.dependent_name)
            return f"{mark}/owner" in found["metadata"].get("labels", {})

        await wait(is_marked)
