"""Our own bundle: the same when made again, strictly valid, and its examples are accepted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall.localcluster import Binaries, Cluster
from tests.apiserver.kubectl import Kubectl

ROOT = Path(__file__).parents[3]
# The CRDs of OLM's own API are not part of this repository.
OLM_CRDS = Path(os.environ.get("OLM_CRDS", ROOT.parent / "shared" / "olm"))
CSV_CRD = "operators.coreos.com_clusterserviceversions.yaml"
Json = dict[str, Any]


@pytest.fixture
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    return Kubectl(binaries, cluster)


@pytest.fixture
def csv() -> Json:
    path = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    found: Json = yaml.safe_load(path.read_text())
    return found


def test_bundle_made_again_is_the_same(
    kubectl: Kubectl, csv: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bundle", "roles", "crds"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("bundle.Dockerfile", "watches.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "rendered.yaml").write_text(kubectl("kustomize", str(ROOT / "config/manifests")))
    before = {path: path.read_text() for path in sorted((tmp_path / "bundle").rglob("*.yaml"))}
    monkeypatch.chdir(tmp_path)
    (deployment,) = csv["spec"]["install"]["spec"]["deployments"]
    image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    names = ["--package", "rolecall", "--version", csv["spec"]["version"], "--image", image]
    assert main(["bundle", *names, "--manifests", "rendered.yaml"]) == 0
    after = {path: path.read_text() for path in sorted((tmp_path / "bundle").rglob("*.yaml"))}
    assert after == before, "`make bundle` brings it up to date"


def test_bundle_has_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = main(["bundle", "--validate"])
    assert code == 0, capsys.readouterr().out


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
