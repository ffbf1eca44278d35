"""What the role of EtcdCluster asks of others: of cert-manager, of Prometheus' operator, of volumes.

None of them works here, but their kinds are served, so what the role asks for is seen.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT
from tests.e2e.kinds import condition, cr
from tests.fixtures.authorities import Issued, issue
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

ETCD = Gvk("mycompany.com", "v1alpha1", "EtcdCluster")
CERTIFICATE = Gvk("cert-manager.io", "v1", "Certificate")
MONITOR = Gvk("monitoring.coreos.com", "v1", "ServiceMonitor")
ALERTS = Gvk("monitoring.coreos.com", "v1", "PrometheusRule")
POLICY = Gvk("networking.k8s.io", "v1", "NetworkPolicy")
SECRET, CLAIM = Gvk("", "v1", "Secret"), Gvk("", "v1", "PersistentVolumeClaim")
SET = Gvk("apps", "v1", "StatefulSet")
CRON_JOB = Gvk("batch", "v1", "CronJob")
SHOP = {"podSelector": {"matchLabels": {"app": "shop"}}}


def run(cluster: Cluster, namespace: str, scratch: Path) -> int:
    """The role, once, as a person runs it."""
    command = [sys.executable, "-m", "rolecall", "run-role", "-n", namespace, "etcdcluster/db"]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"KUBECONFIG": str(cluster.kubeconfig), "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    print(ended.stdout[-6000:], ended.stderr[-2000:])
    assert "PRIVATE KEY" not in ended.stdout + ended.stderr
    return ended.returncode


async def ready(api: Client, namespace: str) -> Json:
    return condition(await api.get(ETCD, namespace, "db"), "Ready")


@pytest.mark.nightly
async def test_members_wait_for_their_issuer_and_are_monitored(
    api: Client, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    await install(api, yaml.safe_load((ROOT / "crds/etcdclusters.yaml").read_text()))
    for gvk in (CERTIFICATE, MONITOR, ALERTS):
        await install(api, crd_for(gvk))
    spec: dict[str, Any] = {
        "version": "3.6.16",
        "replicas": 1,
        "storageSize": "2Gi",
        "tls": {"issuerRef": {"name": "mine"}},
        "monitoring": True,
        "networkPolicy": {"clients": [SHOP]},
        "authentication": {},
        "backupSchedule": "0 0 1 1 *",
    }
    await api.create(ETCD, cr(ETCD, namespace, "db", **spec))

    assert run(cluster, namespace, tmp_path) != 0
    assert (await ready(api, namespace))["reason"] == "CertificatesPending"
    member = (await api.get(CERTIFICATE, namespace, "db-member"))["spec"]
    assert member["issuerRef"] == {
        "name": "mine",
        "kind": "Issuer",
        "group": "cert-manager.io",
    }
    assert f"db-8.db-peer.{namespace}.svc" in member["dnsNames"]
    assert member["usages"] == ["digital signature", "client auth", "server auth"]
    client = (await api.get(CERTIFICATE, namespace, "db-client"))["spec"]
    assert "dnsNames" not in client

    await make_small_claim(api, namespace)
    authority = issue("mine")
    for wanted in (member, client):
        await api.create(SECRET, filled_by_the_issuer(namespace, wanted, authority))
    assert run(cluster, namespace, tmp_path) == 0
    template = (await api.get(SET, namespace, "db"))["spec"]["template"]
    assert template["metadata"]["annotations"]["mycompany.com/trust"]
    await members_and_backups_have_the_operators_user(api, namespace, template)
    monitor = (await api.get(MONITOR, namespace, "db"))["spec"]
    assert monitor["endpoints"] == [{"port": "metrics", "interval": "30s"}]
    rules = (await api.get(ALERTS, namespace, "db"))["spec"]["groups"][0]["rules"]
    assert all(f'namespace="{namespace}"' in rule["expr"] for rule in rules)
    policy = (await api.get(POLICY, namespace, "db-members"))["spec"]
    assert SHOP in policy["ingress"][1]["from"]

    claim = await api.get(CLAIM, namespace, "data-db-0")
    assert claim["spec"]["resources"]["requests"]["storage"] == "2Gi"


async def members_and_backups_have_the_operators_user(
    api: Client, namespace: str, template: Json
) -> None:
    made = await api.get(SECRET, namespace, "db-operator")
    assert not made["metadata"].get("ownerReferences"), "it opens the backups, so it outlives it"
    user = base64.b64decode(made["data"]["username"]).decode()
    assert template["metadata"]["annotations"]["mycompany.com/user"] == user
    job = (await api.get(CRON_JOB, namespace, "db-backup"))["spec"]["jobTemplate"]["spec"]
    for container in (
        template["spec"]["containers"][0],
        job["template"]["spec"]["containers"][0],
    ):
        reference = {"name": "db-operator", "key": "password", "optional": True}
        env = {each["name"]: each.get("valueFrom") for each in container["env"]}
        assert env["ETCDCTL_PASSWORD"] == {"secretKeyRef": reference}


async def make_small_claim(api: Client, namespace: str) -> None:
    """As a member's is whose cluster was smaller before."""
    labels = {"app.kubernetes.io/name": "etcd", "mycompany.com/etcdcluster": "db"}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data-db-0",
            "namespace": namespace,
            "labels": labels | {"mycompany.com/part": "member"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    await api.create(CLAIM, claim)
    await eventually_async(
        lambda: api.get(CLAIM, namespace, "data-db-0"),
        lambda found: found.get("status", {}).get("phase") == "Bound",
    )


def filled_by_the_issuer(namespace: str, wanted: Json, authority: Issued) -> Json:
    """A Secret as cert-manager fills it."""
    leaf = issue(wanted["commonName"], authority, hosts=wanted.get("dnsNames", ["client"]))
    content = {"ca.crt": authority.pem, "tls.crt": leaf.pem, "tls.key": leaf.key_pem}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {
            "name": wanted["secretName"],
            "namespace": namespace,
            "labels": wanted["secretTemplate"]["labels"],
        },
        "data": {name: base64.b64encode(text.encode()).decode() for name, text in content.items()},
    }
