"""`rolecall doctor` before a real API server: rights, webhooks, kinds, and which cluster it is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import TIMEOUT_S

GROUP = "doctor.rolecall.dev"
ROLE = """\
- name: Apply | make the settings
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: made, namespace: "{{ ansible_operator_meta.namespace }}"}
"""
_HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tasks = tmp_path / "roles" / "site" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text(ROLE)
    entry = f"- {{group: {GROUP}, version: v1, kind: Site, role: site}}\n"
    (tmp_path / "watches.yaml").write_text(entry)
    return tmp_path


@pytest.fixture
def site(cluster: Cluster) -> Iterator[None]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": anything}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"kind": "Site", "plural": "sites"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    name = f"sites.{GROUP}"
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    cluster.api.create(_CRDS, crd | {"metadata": {"name": name}, "spec": spec})
    yield
    cluster.api.delete(f"{_CRDS}/{name}")


def doctor(project: Path, kubeconfig: Path, *words: str, **variables: str) -> tuple[int, Any]:
    """Its exit code, and what it saw by the name of the look."""
    ended = subprocess.run(
        [sys.executable, "-m", "rolecall", "doctor", "-o", "json", *words],
        cwd=project,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(project),
            "KUBECONFIG": str(kubeconfig),
            "ROLECALL_PROXY_PORT": "0",
            "ROLECALL_ROLE_METRICS_PORT": "0",
            "ROLECALL_METRICS_BIND_ADDRESS": "0",
            "ROLECALL_HEALTH_PROBE_BIND_ADDRESS": "0",
            "ROLECALL_ARTIFACTS_DIR": str(project / "artifacts"),
            "ANSIBLE_COLLECTIONS_PATH": str(Path(__file__).parents[3] / ".collections"),
        }
        | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    seen: dict[str, list[Json]] = {}
    for row in json.loads(ended.stdout)["looks"]:
        seen.setdefault(row["look"], []).append(row)
    return ended.returncode, seen


@pytest.mark.usefixtures("site")
def test_everything_is_right(project: Path, cluster: Cluster) -> None:
    code, seen = doctor(project, cluster.kubeconfig)
    assert [row for rows in seen.values() for row in rows if row["state"] != "ok"] == []
    assert code == 0
    assert cluster.url in seen["cluster"][0]["what"]
    assert str(cluster.kubeconfig) in seen["cluster"][0]["what"]


def test_kind_whose_crd_is_missing_is_named(project: Path, cluster: Cluster) -> None:
    code, seen = doctor(project, cluster.kubeconfig)
    (row,) = seen["kinds"]
    assert (code, row["state"]) == (1, "to_do")
    assert f"Site ({GROUP}/v1) is not served" in row["what"]


@pytest.mark.usefixtures("site")
def test_right_that_is_missing_is_named_with_its_way_out(
    project: Path,
    namespace: str,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    verbs = ["get", "list", "watch", "patch", "update"]
    resources = ["sites", "sites/status", "sites/finalizers"]
    rules = [
        {"apiGroups": [GROUP], "resources": resources, "verbs": verbs},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    ]
    kubeconfig = service_account_kubeconfig(rules)
    code, seen = doctor(project, kubeconfig, WATCH_NAMESPACE=namespace)
    (row,) = seen["rights"]
    assert (code, row["state"]) == (1, "to_do")
    assert "create" in row["what"]
    assert f"`configmaps` in namespace {namespace}" in row["what"]
    assert "get" not in row["what"]
    assert "rolecall rbac" in row["way_out"]


@pytest.mark.nightly
@pytest.mark.usefixtures("site")
def test_rights_of_the_operators_account_are_asked_with_as(
    project: Path, cluster: Cluster, namespace: str
) -> None:
    account = f"system:serviceaccount:{namespace}:stranger"
    _, seen = doctor(project, cluster.kubeconfig, "--as", account)
    assert f"`{account}` may not" in seen["rights"][0]["what"]


@pytest.mark.usefixtures("site")
def test_webhook_without_its_service_is_named_with_what_it_blocks(
    project: Path, cluster: Cluster, namespace: str
) -> None:
    service = {"namespace": namespace, "name": "gone", "path": "/"}
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": ["*"],
        "resources": ["*"],
        "operations": ["CREATE", "UPDATE"],
    }
    hook = {
        "name": f"block.{GROUP}",
        "clientConfig": {"service": service},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
    }
    cluster.api.create(_HOOKS, {"metadata": {"name": namespace}, "webhooks": [hook]})
    try:
        code, seen = doctor(project, cluster.kubeconfig)
    finally:
        cluster.api.delete(f"{_HOOKS}/{namespace}")
    (row,) = seen["webhooks"]
    assert (code, row["state"]) == (1, "to_do")
    assert f"calls the service `{namespace}/gone`, which has no ready endpoint" in row["what"]
    assert f"writes of sites.{GROUP}" in row["what"]
    assert f"kubectl delete validatingwebhookconfiguration {namespace}" in row["way_out"]


@pytest.mark.nightly
@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("narrowed", "reported"),
    [
        ({}, f"refuses writes of sites.{GROUP}"),
        ({"namespaceSelector": {"matchLabels": {"team": "none"}}}, ""),
        ({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}, ""),
        (
            {"objectSelector": {"matchLabels": {"team": "none"}}},
            f"may refuse writes of sites.{GROUP}",
        ),
        (
            {"matchConditions": [{"name": "team", "expression": "false"}]},
            f"may refuse writes of sites.{GROUP}",
        ),
    ],
)
def test_webhook_blocks_what_its_selectors_leave(
    project: Path, cluster: Cluster, namespace: str, narrowed: Json, reported: str
) -> None:
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    hook = {
        "name": f"narrow.{GROUP}",
        "clientConfig": {"service": {"namespace": namespace, "name": "gone"}},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
    }
    cluster.api.create(_HOOKS, {"metadata": {"name": namespace}, "webhooks": [hook | narrowed]})
    try:
        _, seen = doctor(project, cluster.kubeconfig, WATCH_NAMESPACE=namespace)
    finally:
        cluster.api.delete(f"{_HOOKS}/{namespace}")
    (row,) = seen["webhooks"]
    assert (row["state"], reported in row["what"]) == ("to_do" if reported else "ok", True)


@pytest.mark.nightly
@pytest.mark.usefixtures("site")
def test_webhook_that_may_be_ignored_blocks_nothing(
    project: Path, cluster: Cluster, namespace: str
) -> None:
    service = {"namespace": namespace, "name": "gone"}
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    hook = {
        "name": f"ignore.{GROUP}",
        "clientConfig": {"service": service},
        "rules": [rule],
        "failurePolicy": "Ignore",
        "timeoutSeconds": 1,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
    }
    cluster.api.create(_HOOKS, {"metadata": {"name": namespace}, "webhooks": [hook]})
    try:
        _, seen = doctor(project, cluster.kubeconfig)
    finally:
        cluster.api.delete(f"{_HOOKS}/{namespace}")
    assert [row["state"] for row in seen["webhooks"]] == ["ok"]


@pytest.mark.nightly
@pytest.mark.usefixtures("site")
def test_kubeconfig_that_is_set_elsewhere_is_named(project: Path, cluster: Cluster) -> None:
    elsewhere = project / "elsewhere"
    text = cluster.kubeconfig.read_text()
    elsewhere.write_text(text.replace(cluster.url, "https://127.0.0.1:9"))
    code, seen = doctor(project, elsewhere)
    assert code == 1
    assert "https://127.0.0.1:9" in seen["cluster"][0]["what"]
    assert [row["state"] for row in seen["rights"]] == ["not_looked"]


def test_watches_file_that_cannot_be_read_hides_nothing(project: Path, cluster: Cluster) -> None:
    (project / "watches.yaml").write_text("- {kind: Site, role: site}\n")
    code, seen = doctor(project, cluster.kubeconfig)
    assert code == 1
    assert seen["project"][0]["what"].startswith("watches.yaml:1: ")
    assert seen["cluster"][0]["state"] == seen["clock"][0]["state"] == "ok"
