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
        ({}, {"version": "99.1.1"}, "version must be of etcd 3, from 3.5.6 on"),
        ({}, {"version": "3.5.5"}, "version must be of etcd 3, from 3.5.6 on"),
        ({}, {"version": "3.4.10"}, "version must be of etcd 3, from 3.5.6 on"),
        ({}, {"quotaBackendBytes": "8Ki"}, "quotaBackendBytes must be at least 16Mi"),
        ({}, {"backupSchedule": "0 3 31 2 *"}, "February has 29 days at most"),
        ({}, {"backupSchedule": "0 3 31 4,06,NOV *"}, "names the 31st of months that have 30"),
        ({}, {"quotaBackendBytes": "615Mi"}, "at most 60 percent of storageSize"),
        ({"storageSize": "100Mi"}, {"storageSize": "99Mi"}, "storageSize must be at least 100Mi"),
        ({"storageClassName": "a"}, {"storageClassName": "b"}, "storageClassName cannot change"),
        ({}, {"storageClassName": "b"}, "storageClassName cannot change"),
        ({}, {"podLabels": {"mycompany.com/part": "x"}}, "podLabels cannot have"),
        ({}, {"podAnnotations": {"mycompany.com/trust": "x"}}, "podAnnotations cannot have"),
        ({}, {"spread": "Never"}, "Unsupported value"),
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


TINY: Json = {"storageSize": "1Ki"}
OUTSIDE: Json = {
    "backupSchedule": "0 3 * * *",
    "backupS3": {"endpoint": "https://s3", "bucket": "all", "secretName": "s3", "prefix": "a/../b"},
}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (TINY, "storageSize must be at least 100Mi"),
        (OUTSIDE, "prefix must not have empty folders, `.` or `..` in it"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_created(
    kubectl: Kubectl, namespace: str, spec: Json, said: str
) -> None:
    refused = kubectl.run("-n", namespace, "create", "-f", "-", stdin=json.dumps(etcd(**spec)))

    assert refused.returncode != 0
    assert said in refused.stderr


@pytest.mark.parametrize(
    "spec",
    [
        {"version": "3.5.9", "storageSize": "10Gi", "backupSchedule": "0 2 * * *"},
        {"version": "3.5.6"},
        {"version": "3.10.0"},
        {"backupSchedule": "0 3 31 2 1"},  # and each Monday in February
        {"backupSchedule": "0 3 29 2 *"},
        {"backupSchedule": "0 3 31 2,3 *"},
        {**OUTSIDE, "backupS3": {**OUTSIDE["backupS3"], "prefix": "a/b..c/.d/e"}},
    ],
)
def test_what_can_work_is_taken(kubectl: Kubectl, namespace: str, spec: Json) -> None:
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(etcd(**spec)))


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
