"""Where the pods of an EtcdCluster run, and what they carry, as its spec says."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.own.world import ETCD, create, make, wait, wait_settled

pytestmark = pytest.mark.usefixtures("engine")

SET, CRON_JOB = Gvk("apps", "v1", "StatefulSet"), Gvk("batch", "v1", "CronJob")
OF_ALL: Json = {
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "etcd", "operator": "Exists"}],
    "imagePullSecrets": [{"name": "registry"}],
    "serviceAccountName": "keeper",
}
NEAR: Json = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]
        }
    }
}
ZONES = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
MEMBERS = {
    "app.kubernetes.io/name": "etcd",
    "mycompany.com/etcdcluster": "db",
    "mycompany.com/part": "member",
}


async def test_pods_run_where_and_as_the_spec_says(api: Client, namespace: str) -> None:
    spec = {
        "version": "3.6.16",
        "replicas": 1,
        "storageClassName": "fast",
        "spread": "Required",
        "affinity": NEAR,
        "topologySpreadConstraints": [ZONES],
        "priorityClassName": "system-cluster-critical",
        "podLabels": {"team": "storage"},
        "podAnnotations": {"example.com/scrape": "false"},
        "backupSchedule": "0 3 * * *",
        **OF_ALL,
    }
    cr = make(ETCD, namespace, "db", spec)
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")

    made = (await wait(lambda: api.get(SET, namespace, "db")))["spec"]
    assert made["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "fast"
    metadata, pod = made["template"]["metadata"], made["template"]["spec"]
    assert metadata["labels"] == {**MEMBERS, "team": "storage"}
    assert metadata["annotations"] == {"example.com/scrape": "false"}
    assert OF_ALL.items() <= pod.items()
    assert pod["priorityClassName"] == "system-cluster-critical"
    (zones,) = pod["topologySpreadConstraints"]
    assert zones == {**ZONES, "labelSelector": {"matchLabels": MEMBERS}}
    assert NEAR.items() <= pod["affinity"].items()
    (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"] == {"matchLabels": MEMBERS}

    job = (await api.get(CRON_JOB, namespace, "db-backup"))["spec"]["jobTemplate"]["spec"]
    backup = job["template"]["spec"]
    assert OF_ALL.items() <= backup.items()
    assert backup["affinity"] == NEAR


async def test_members_are_spread_over_nodes_without_a_word(api: Client, namespace: str) -> None:
    cr = make(ETCD, namespace, "db", {"version": "3.6.16", "replicas": 1})
    await create(api, [cr])
    await wait_settled(api, [cr], "Starting")

    pod = (await wait(lambda: api.get(SET, namespace, "db")))["spec"]["template"]
    (nodes,) = pod["spec"]["topologySpreadConstraints"]
    assert (nodes["topologyKey"], nodes["whenUnsatisfiable"]) == (
        "kubernetes.io/hostname",
        "ScheduleAnyway",
    )
    assert nodes["labelSelector"] == {"matchLabels": MEMBERS}
    assert "affinity" not in pod["spec"]
    assert "annotations" not in pod["metadata"]
