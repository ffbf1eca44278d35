"""Our own bundle: the same when made again, strictly valid, and its examples are accepted."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from rolecall.cli import main
from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.kubectl import Kubectl

ROOT = Path(__file__).parents[3]
# The CRDs of OLM's own API are not part of this repository.
OLM_CRDS = Path(os.environ.get("OLM_CRDS", ROOT.parent / "shared" / "olm"))
CSV_CRD = "operators.coreos.com_clusterserviceversions.yaml"


@pytest.fixture
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    return Kubectl(binaries, cluster)


@pytest.fixture
def csv() -> Json:
    path = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    found: Json = yaml.safe_load(path.read_text())
    return found


def of_make_bundle(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What plain `make bundle` gives to `rolecall bundle`."""
    for name in ("IMG", "IMAGE_TAG_BASE", "VERSION", "REPLACES", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(name, raising=False)
    command = ["make", "--no-print-directory", "--dry-run", "bundle"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = (it for it in said.splitlines() if " bundle --package" in it)
    words = shlex.split(line)
    return words[words.index("--package") :]


@pytest.mark.nightly
def test_plain_make_bundle_changes_nothing(
    kubectl: Kubectl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bundle", "roles", "playbooks", "handlers", "crds"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("bundle.Dockerfile", "watches.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "rendered.yaml").write_text(kubectl("kustomize", str(ROOT / "config/manifests")))
    before = {path: path.read_text() for path in sorted((tmp_path / "bundle").rglob("*.yaml"))}
    monkeypatch.chdir(tmp_path)
    words = of_make_bundle(monkeypatch)
    assert main(["bundle", *words, "--manifests", "rendered.yaml"]) == 0
    after = {path: path.read_text() for path in sorted((tmp_path / "bundle").rglob("*.yaml"))}
    assert after == before, "`make bundle` brings it up to date"


def test_bundle_has_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = main(["bundle", "--validate"])
    assert code == 0, capsys.readouterr().out


@pytest.mark.nightly
def test_csv_is_strictly_valid_for_olm(kubectl: Kubectl, csv: Json, namespace: str) -> None:
    if not (OLM_CRDS / CSV_CRD).is_file():
        pytest.skip("the CRDs of OLM are not here; OLM_CRDS=DIR names a folder with them")
    kubectl.install("-f", str(OLM_CRDS / CSV_CRD))
    csv["metadata"]["namespace"] = namespace
    kubectl.judge([csv])
    csv["spec"]["instalModes"] = []
    refused = kubectl.run(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(csv)
    )
    assert 'unknown field "spec.instalModes"' in refused.stderr


def test_examples_are_accepted(kubectl: Kubectl, csv: Json, namespace: str) -> None:
    kubectl.install("-k", str(ROOT / "crds"))
    examples = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    said = kubectl.judge(examples, "--namespace", namespace)
    assert said.count("(server dry run)") == len(examples)


@pytest.mark.nightly
def test_scorecard_on_a_cluster_of_its_own_passes_our_bundle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["bundle", "--scorecard", "--local-cluster"]) == 0, capsys.readouterr().out
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 9
    assert {line.split()[0] for line in said} == {"pass"}


@pytest.mark.nightly
def test_scorecard_reports_what_only_an_api_server_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "bundle", tmp_path / "bundle")
    shutil.copy(ROOT / "bundle.Dockerfile", tmp_path)
    monkeypatch.chdir(tmp_path)
    manifests = tmp_path / "bundle" / "manifests"
    crd_file = manifests / "routing.rolecall.dev_mappings.yaml"
    crd = yaml.safe_load(crd_file.read_text())
    for version in crd["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["default"] = {"prefix": 3}
    crd_file.write_text(yaml.safe_dump(crd))
    csv_file = manifests / "rolecall.clusterserviceversion.yaml"
    csv = yaml.safe_load(csv_file.read_text())
    annotations = csv["metadata"]["annotations"]
    examples = json.loads(annotations["alm-examples"])
    (etcd,) = (it for it in examples if it["kind"] == "EtcdCluster")
    etcd["spec"]["replicas"] = 4
    annotations["alm-examples"] = json.dumps(examples)
    (deployment,) = csv["spec"]["install"]["spec"]["deployments"]
    deployment["spec"]["template"]["spec"]["hostNetwork"] = True
    csv_file.write_text(yaml.safe_dump(csv))

    assert main(["bundle", "--scorecard", "--local-cluster"]) == 2
    said = capsys.readouterr().out
    assert "FAIL cluster-takes-crds\n     CustomResourceDefinition mappings.routing" in said
    assert "replicas must be odd" in said
    assert "FAIL cluster-takes-install\n     Deployment rolecall-controller-manager" in said
    assert 'violate PodSecurity "restricted:latest": host namespaces' in said
    assert said.count("FAIL") == 3


def test_scorecard_asks_no_cluster_about_a_bundle_whose_files_have_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "bundle", tmp_path / "bundle")
    monkeypatch.chdir(tmp_path)
    assert main(["bundle", "--scorecard", "--local-cluster"]) == 2
    said = capsys.readouterr().out
    assert "the cluster was not asked" in said
    assert "cluster-takes" not in said
