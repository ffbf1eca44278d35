"""What becomes of an etcd cluster that is deleted while a last backup is wanted."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.kinds import is_gone
from tests.e2e.own.cases import POD
from tests.e2e.own.world import ETCD, create, make, wait, wait_settled

pytestmark = pytest.mark.usefixtures("engine")

JOB = Gvk("batch", "v1", "Job")
SPEC: Json = {"version": "3.6.16", "replicas": 1, "backupOnDelete": True}


@pytest.mark.nightly
async def test_members_live_until_the_last_backup_is_taken_in_foreground_deletion_too(
    cluster: Cluster, api: Client, namespace: str
) -> None:
    cr = make(ETCD, namespace, "db", SPEC)
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")
    await wait(lambda: api.get(POD, namespace, "db-0"))
    name = f"db-last-{(await api.get(ETCD, namespace, 'db'))['metadata']['uid'][:8]}"
    await api.create(JOB, _failed_try(namespace, name))
    await wait(lambda: _has_failed(api, namespace, name))
    member = (await api.get(POD, namespace, "db-0"))["metadata"]["uid"]

    cluster.kubectl(
        *("-n", namespace, "delete", "etcdcluster", "db"),
        *("--cascade=foreground", "--wait=false"),
    )
    taken = await wait(lambda: _new_try(api, namespace, name))

    # Had the garbage collector deleted members, it would have done so before our run began.
    assert (await api.get(POD, namespace, "db-0"))["metadata"]["uid"] == member
    assert taken["spec"]["template"]["spec"]["containers"][0]["command"] == ["etcdctl"]
    await wait(lambda: is_gone(api, ETCD, namespace, "db"))
    await wait(lambda: is_gone(api, POD, namespace, "db-0"))


def _failed_try(namespace: str, name: str) -> Json:
    """A last backup that failed before: its pods never end, and its time is up at once."""
    pod = {
        "metadata": {"annotations": {"localcluster/behave": "failing"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]},
    }
    spec = {"backoffLimit": 0, "activeDeadlineSeconds": 1, "template": pod}
    return make(JOB, namespace, name, spec)


async def _has_failed(api: Client, namespace: str, name: str) -> bool:
    status = (await api.get(JOB, namespace, name))["status"]
    return any(each["type"] == "Failed" for each in status["conditions"])


async def _new_try(api: Client, namespace: str, name: str) -> Json:
    job = await api.get(JOB, namespace, name)
    assert job["spec"]["template"]["spec"]["containers"][0]["name"] == "snapshot"
    return job
