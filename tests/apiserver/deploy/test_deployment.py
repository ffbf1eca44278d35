"""Our own deployment and a new project's: strictly valid, and allowed under restricted Pod Security."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import yaml

from rolecall.cli import main
from rolecall.json_object import Json
from rolecall.metrics import NAMES
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.kubectl import Kubectl

ROOT = Path(__file__).parents[3]


@pytest.fixture
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    return Kubectl(binaries, cluster)


@pytest.fixture(params=["own", "scaffold"])
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """This repository, and a new project with one kind."""
    if request.param == "own":
        return ROOT
    folder = tmp_path / "cache-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "deployed", "--version", "v1", "--kind", "Memcached"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    return folder


def moved(documents: list[Json], namespace: str) -> tuple[Json, list[Json]]:
    """The namespace that they bring, and the rest in the test's own."""
    own = next(it for it in documents if it["kind"] == "Namespace")
    text = yaml.safe_dump_all([it for it in documents if it is not own])
    renamed = re.sub(rf"(namespace: ){own['metadata']['name']}\b", rf"\g<1>{namespace}", text)
    return own, list(yaml.safe_load_all(renamed))


@pytest.mark.parametrize(
    "overlay",
    [
        "default",
        "all-namespaces",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("replicas", "shards")),
    ],
)
def test_deployment_is_strictly_valid(
    kubectl: Kubectl, project: Path, overlay: str, namespace: str
) -> None:
    own, rest = moved(kubectl.rendered(project / "config" / overlay), namespace)
    labels = own["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    kubectl.judge([own])
    said = kubectl.judge(rest)
    assert said.count("(server dry run)") == len(rest)


def test_autoscaler_is_strictly_valid_and_scales_our_deployment_by_a_metric_that_there_is(
    kubectl: Kubectl, project: Path, namespace: str
) -> None:
    text = (project / "config" / "shards" / "autoscaler.yaml").read_text()
    autoscaler: Json = yaml.safe_load(text)
    autoscaler["metadata"]["namespace"] = namespace
    assert kubectl.judge([autoscaler]).count("(server dry run)") == 1

    documents = kubectl.rendered(project / "config" / "shards")
    deployment = next(it for it in documents if it["kind"] == "Deployment")
    scaling = autoscaler["spec"]
    assert scaling["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaling["minReplicas"] == deployment["spec"]["replicas"]
    assert scaling["metrics"][0]["pods"]["metric"]["name"] in {spec.name for spec in NAMES}


def test_pod_is_allowed_under_restricted_pod_security(
    kubectl: Kubectl, project: Path, namespace: str
) -> None:
    level = "pod-security.kubernetes.io/enforce=restricted"
    kubectl("label", "namespace", namespace, level)
    documents = kubectl.rendered(project / "config" / "default")
    deployment = next(it for it in documents if it["kind"] == "Deployment")
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "operator", "namespace": namespace},
        "spec": {**deployment["spec"]["template"]["spec"], "serviceAccountName": "default"},
    }
    kubectl.judge([pod])
    open_pod = copy.deepcopy(pod)
    del open_pod["spec"]["containers"][0]["securityContext"]
    refused = kubectl.run("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(open_pod))
    assert 'violates PodSecurity "restricted' in refused.stderr


def test_samples_and_tests_overlay_can_be_rendered(kubectl: Kubectl, project: Path) -> None:
    folders = [
        name
        for name in ("manifests", "samples", "prometheus", "testing")
        if (project / "config" / name).is_dir()
    ]
    for name in folders:
        assert kubectl.rendered(project / "config" / name)
