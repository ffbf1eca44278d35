"""`rolecall doctor --uninstall`: what would be held up for ever, and what stays, before and after."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.doctor.test_doctor import doctor
from tests.apiserver.kubectl import Kubectl

GROUP = "uninstall.rolecall.dev"
FINALIZER = f"{GROUP}/farewell"
CRS = f"/apis/{GROUP}/v1/namespaces"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
MANAGER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager}
spec:
  template:
    spec:
      containers:
        - name: manager
          env: [{name: ROLECALL_LEADER_ELECTION_ID, value: leaving}]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One kind, whose role runs once more before a CR goes."""
    tasks = tmp_path / "roles" / "site" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text("[]\n")
    (tmp_path / "watches.yaml").write_text(
        f"- {{group: {GROUP}, version: v1, kind: Site, role: site,"
        f" finalizer: {{name: {FINALIZER}, vars: {{leaving: true}}}}}}\n"
    )
    (tmp_path / "config" / "manager").mkdir(parents=True)
    (tmp_path / "config" / "manager" / "manager.yaml").write_text(MANAGER)
    return tmp_path


@pytest.fixture
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    return Kubectl(binaries, cluster)


@pytest.fixture
def installed(cluster: Cluster, kubectl: Kubectl, tmp_path: Path) -> Iterator[None]:
    """What an operator brings: a CRD, a ClusterRole with its binding."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"kind": "Site", "plural": "sites"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    crd: Json = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"sites.{GROUP}"},
        "spec": spec,
    }
    (tmp_path / "crd.json").write_text(json.dumps(crd))
    kubectl.install("-f", str(tmp_path / "crd.json"))
    name = "leaving-engine"
    cluster.api.create(f"{_RBAC}/clusterroles", {"metadata": {"name": name}, "rules": []})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    cluster.api.create(
        f"{_RBAC}/clusterrolebindings", {"metadata": {"name": name}, "roleRef": reference}
    )
    yield
    for site in cluster.api.get(f"/apis/{GROUP}/v1/sites")["items"] if is_served(kubectl) else ():
        at = (f"sites.{GROUP}", site["metadata"]["name"], "-n", site["metadata"]["namespace"])
        kubectl("patch", *at, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        kubectl.run("delete", *at, "--ignore-not-found", "--timeout=120s")
    for path in (f"{_RBAC}/clusterroles/{name}", f"{_RBAC}/clusterrolebindings/{name}"):
        kubectl.run("delete", "--raw", path)
    # The next test that needs it would else be refused while it goes.
    kubectl("delete", "crd", f"sites.{GROUP}", "--ignore-not-found", "--timeout=120s")


def is_served(kubectl: Kubectl) -> bool:
    return kubectl.run("get", "--raw", f"/apis/{GROUP}/v1/sites").returncode == 0


def add_site(cluster: Cluster, namespace: str) -> None:
    metadata = {"name": "shop", "finalizers": ["example.com/other", FINALIZER]}
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Site", "metadata": metadata}
    cluster.api.create(f"{CRS}/{namespace}/sites", body)


@pytest.fixture
def engine(cluster: Cluster, kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """A pod as the operator's Deployment has it; no node ever takes it."""
    base = f"/api/v1/namespaces/{namespace}"
    cluster.api.create(f"{base}/serviceaccounts", {"metadata": {"name": "engine"}})
    metadata = {"name": "engine", "labels": {"rolecall.dev/engine": "leaving"}}
    container = {"name": "manager", "image": "registry.example.com/op:v1"}
    spec = {
        "containers": [container],
        "serviceAccountName": "engine",
        "automountServiceAccountToken": False,
        "nodeSelector": {"no": "such-node"},
    }
    cluster.api.create(f"{base}/pods", {"metadata": metadata, "spec": spec})
    yield
    kubectl("delete", "pod", "engine", "-n", namespace, "--grace-period=0", "--force")


def texts(rows: list[Json], field: str) -> str:
    return "\n".join(row[field] for row in rows)


@pytest.mark.nightly
@pytest.mark.usefixtures("installed", "engine")
def test_cr_that_the_operator_must_finalize_is_deleted_before_it_goes(
    project: Path, cluster: Cluster, namespace: str
) -> None:
    add_site(cluster, namespace)
    code, seen = doctor(project, cluster.kubeconfig, "--uninstall")
    assert code == 1
    (row,) = seen["finalizers"]
    assert f"Site {namespace}/shop has the finalizer `{FINALIZER}`" in row["what"]
    assert f"`kubectl delete sites.{GROUP} shop -n {namespace}`" in row["way_out"]
    said = texts(seen["remains"], "what")
    assert f"an uninstall may leave CRDs, and with them every CR: sites.{GROUP}" in said
    assert "clusterrole/leaving-engine, clusterrolebinding/leaving-engine" in said
    assert {row["state"] for row in seen["remains"]} == {"ok"}


@pytest.mark.usefixtures("installed")
@pytest.mark.nightly
def test_way_out_after_the_operator_is_gone_takes_away_its_finalizer_alone(
    project: Path, cluster: Cluster, namespace: str, kubectl: Kubectl
) -> None:
    add_site(cluster, namespace)
    cluster.api.delete(f"{CRS}/{namespace}/sites/shop")
    code, seen = doctor(project, cluster.kubeconfig, "--uninstall")
    assert code == 1
    (row,) = seen["finalizers"]
    assert "which is being deleted" in row["what"]
    assert "no operator runs" in row["what"]
    words = shlex.split(row["way_out"].split("`")[-2])
    assert words[0] == "kubectl"
    kubectl(*words[1:])
    left = cluster.api.get(f"{CRS}/{namespace}/sites/shop")
    assert left["metadata"]["finalizers"] == ["example.com/other"]
    assert doctor(project, cluster.kubeconfig, "--uninstall")[1]["finalizers"][0]["state"] == "ok"


@pytest.mark.usefixtures("installed")
def test_leftovers_of_an_uninstall_are_reported_with_the_commands_that_remove_them(
    project: Path, cluster: Cluster, namespace: str, kubectl: Kubectl
) -> None:
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    cluster.api.create(leases, {"metadata": {"name": "leaving"}})
    claim: Json = {
        "metadata": {"name": "backup", "labels": {f"{GROUP}/part": "backups"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    cluster.api.create(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims", claim)
    code, seen = doctor(project, cluster.kubeconfig, "--uninstall")
    assert code == 1
    ways = [row["way_out"] for row in seen["remains"] if row["state"] == "to_do"]
    assert f"claims that hold data stay: {namespace}/backup" in texts(seen["remains"], "what")
    for way in ways:
        for command in way.split("`")[1::2]:
            kubectl(*shlex.split(command)[1:], "--timeout=120s")
    code, seen = doctor(project, cluster.kubeconfig, "--uninstall")
    assert code == 0, seen
    patch = '{"metadata":{"finalizers":null}}'
    kubectl("patch", "pvc", "backup", "-n", namespace, "--type=merge", "-p", patch)
    kubectl("delete", "pvc", "backup", "-n", namespace, "--timeout=120s")


@pytest.mark.nightly
def test_cluster_that_knows_nothing_of_the_operator_is_fine(
    project: Path, cluster: Cluster
) -> None:
    code, seen = doctor(project, cluster.kubeconfig, "--uninstall")
    assert code == 0
    assert seen["finalizers"][0]["what"] == "no CR has one that needs the operator"
    assert seen["remains"][0]["what"] == "nothing of this operator is left"
