"""What of an EtcdCluster's security and care the API server refuses, in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.deploy.test_deployment import ROOT
from tests.apiserver.kubectl import Kubectl

NAMED = {"name": "mine", "kind": "ClusterIssuer"}


def etcd(**spec: Any) -> Json:
    return {
        "apiVersion": "mycompany.com/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "db"},
        "spec": {"version": "3.6.16"} | spec,
    }


@pytest.fixture(scope="module")
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    kubectl = Kubectl(binaries, cluster)
    kubectl.install("-f", str(ROOT / "crds/etcdclusters.yaml"))
    return kubectl


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"storageSize": "2Gi"}, {"storageSize": "1Gi"}, "storageSize cannot shrink"),
        ({}, {"tls": {}}, "tls cannot be turned on or off"),
        ({"tls": {}}, {}, "tls cannot be turned on or off"),
        ({"tls": {}}, {"tls": {"peer": False}}, "tls cannot be turned on or off"),
        ({"tls": {}}, {"tls": {"issuerRef": NAMED}}, "tls.issuerRef cannot change"),
        ({"tls": {"issuerRef": NAMED}}, {"tls": {"issuerRef": {"name": "other"}}}, "cannot change"),
        ({"tls": {}}, {"tls": {"duration": "10h", "rotateBefore": "10h"}}, "must be shorter"),
        ({}, {"quotaBackendBytes": "2Gi"}, "quotaBackendBytes is larger than storageSize"),
        ({}, {"compaction": {"mode": "revision", "retention": "8h"}}, "a number where it is"),
        ({}, {"compaction": {"mode": "periodic", "retention": "8"}}, "a time such as 8h"),
        ({}, {"resources": {"limits": {"memory": "much"}}}, "should match"),
        ({}, {"networkPolicy": {"clients": [{}]}}, "should have at least 1 properties"),
        ({}, {"authentication": {"rootSecretName": "Not A Name"}}, "should match"),
    ],
)
def test_what_cannot_work_is_refused_and_said_plainly(
    kubectl: Kubectl, namespace: str, before: Json, after: Json, said: str
) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(etcd(**before)))

    refused = kubectl.run("-n", namespace, "replace", "-f", "-", stdin=json.dumps(etcd(**after)))

    assert refused.returncode != 0
    assert said in refused.stderr


def test_what_may_change_is_taken(kubectl: Kubectl, namespace: str) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(etcd(tls={}, storageSize="1Gi")))
    after = etcd(
        tls={"duration": "48h", "rotateBefore": "24h"},
        storageSize="1Ti",
        quotaBackendBytes="8Gi",
        compaction={"mode": "periodic", "retention": "8h"},
        defragment={"above": 50},
        resources={"requests": {"cpu": 1, "memory": "64Mi"}},
        monitoring=True,
        networkPolicy={"clients": [{"podSelector": {"matchLabels": {"app": "shop"}}}]},
    )
    kubectl("-n", namespace, "replace", "-f", "-", stdin=json.dumps(after))
