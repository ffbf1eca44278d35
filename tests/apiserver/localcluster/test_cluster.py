"""What a cluster of ours can do: the promises that other tests build on."""

from __future__ import annotations

import json

import pytest

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually

BOX = {"name": "box", "image": "x"}


def test_node_is_ready(cluster: Cluster) -> None:
    nodes = cluster.kubectl_json("get", "nodes")["items"]
    conditions = {one["type"]: one["status"] for one in nodes[0]["status"]["conditions"]}
    assert conditions["Ready"] == "True"


def test_claim_of_the_default_class_becomes_bound_and_grows(
    cluster: Cluster, namespace: str
) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    cluster.api.create(path, claim)
    eventually(lambda: cluster.api.get(f"{path}/data")["status"]["phase"], lambda it: it == "Bound")

    larger = '{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}'
    cluster.kubectl("patch", "pvc", "data", "-n", namespace, "--patch", larger)
    eventually(
        lambda: cluster.api.get(f"{path}/data")["status"]["capacity"]["storage"],
        lambda size: size == "2Gi",
    )


def test_deployment_of_three_becomes_ready(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", "deployment", "web", "--image=x", "--replicas=3", "-n", namespace)
    eventually(
        lambda: cluster.kubectl_json("get", "deployment", "web", "-n", namespace)["status"],
        lambda status: status.get("readyReplicas") == 3,
    )


@pytest.mark.parametrize(
    ("behaviour", "phase", "ready"),
    [("", "Running", "True"), ("failing", "Running", "False"), ("stuck", "Pending", "missing")],
)
def test_pod_behaves_as_its_annotation_says(
    cluster: Cluster, namespace: str, behaviour: str, phase: str, ready: str
) -> None:
    annotations = {"localcluster/behave": behaviour} if behaviour else {}
    path = f"/api/v1/namespaces/{namespace}/pods"
    pod = {"metadata": {"name": "it", "annotations": annotations}, "spec": {"containers": [BOX]}}
    cluster.api.create(path, pod)

    def look() -> tuple[str, bool, str]:
        status = cluster.api.get(f"{path}/it")["status"]
        conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
        is_placed = conditions.get("PodScheduled") == "True"
        return status["phase"], is_placed, conditions.get("Ready", "missing")

    eventually(look, lambda seen: seen == (phase, True, ready))


def test_job_completes(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", "job", "work", "--image=x", "-n", namespace)
    cluster.kubectl("wait", "--for=condition=complete", "job/work", "-n", namespace)


def test_owned_object_is_collected_with_its_owner(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    owner = cluster.api.create(path, {"metadata": {"name": "owner"}})["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    cluster.api.create(path, {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    cluster.api.delete(f"{path}/owner")
    eventually(
        lambda: {item["metadata"]["name"] for item in cluster.api.get(path)["items"]},
        lambda names: not names & {"owner", "owned"},
    )


def test_service_account_may_do_what_its_rules_say_and_nothing_else(
    cluster: Cluster, namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    engine = f"--kubeconfig={service_account_kubeconfig(rules)}"
    listed = cluster.kubectl("get", "configmaps", "-o", "json", engine)
    assert json.loads(listed)["kind"] == "List"
    with pytest.raises(ClusterError, match="Forbidden"):
        cluster.kubectl("get", "secrets", engine)
