"""Bundle and catalog, judged by the libraries that OLM and its tools are made of."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall_dev.localcluster import Binaries, Cluster, default_cache
from rolecall_dev.localcluster.build import find_go
from tests.apiserver.kubectl import Kubectl

ROOT = Path(__file__).parents[3]
SOURCE = Path(__file__).parent / "olm"
Judge = Callable[[Path], list[str]]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """What they have against `bundle/` and `catalog/` of a folder, and how much of it they saw."""
    program = tmp_path_factory.mktemp("olm") / "olm"
    built = subprocess.run(
        [find_go(default_cache()), "build", "-buildvcs=false", "-o", program, "."],
        cwd=SOURCE,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-2000:]

    def judged(folder: Path) -> list[str]:
        command = [program, folder / "bundle", folder / "catalog"]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        return said.stdout.splitlines()

    return judged


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our bundle in a catalog."""
    shutil.copytree(ROOT / "bundle", tmp_path / "bundle")
    shutil.copy(ROOT / "bundle.Dockerfile", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["catalog", "--bundle-image", "registry.example.com/rolecall-bundle:v1"]) == 0
    return tmp_path


@pytest.mark.nightly
def test_our_bundle_and_its_catalog_are_flawless(own: Path, judge: Judge) -> None:
    """Examples are of the newest version alone: users should not begin with an older one."""
    older = "bundle: Warning provided API should have an example annotation"
    said = [line for line in judge(own) if line != older]
    assert said == ["judged a bundle with 7 CRDs", "judged a catalog with 1 bundles"]


@pytest.mark.nightly
def test_faults_are_found(own: Path, judge: Judge) -> None:
    csv = own / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    csv.write_text(csv.read_text().replace("mappings.routing.rolecall.dev", "maps.rolecall.dev"))
    catalog = own / "catalog" / "rolecall" / "catalog.yaml"
    catalog.write_text(catalog.read_text().replace("- name: rolecall.v0.1.0", "- name: other"))
    said = judge(own)
    assert "bundle: Error example must have a provided API" in said
    assert any(line.startswith("catalog: ") and "not found in any channel" in line for line in said)


@pytest.mark.nightly
def test_second_version_of_a_generated_project_is_flawless(
    binaries: Binaries,
    cluster: Cluster,
    judge: Judge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kubectl = Kubectl(binaries, cluster)
    folder = tmp_path / "memcached-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "cache", "--version", "v1", "--kind", "Memcached"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    (folder / "rendered.yaml").write_text(kubectl("kustomize", "config/manifests"))
    for version, flags in {"0.1.0": [], "0.2.0": ["--replaces", "0.1.0"]}.items():
        what = ["--version", version, "--image", f"example.com/op:v{version}", *flags]
        assert main(["bundle", *what, "--manifests", "rendered.yaml"]) == 0
        assert main(["catalog", "--bundle-image", f"example.com/op-bundle:v{version}"]) == 0
    assert judge(folder) == ["judged a bundle with 1 CRDs", "judged a catalog with 2 bundles"]
    base = folder / "config" / "manifests" / "bases"
    (file,) = base.glob("*.yaml")
    ranged = file.read_text().replace(
        "annotations:\n", 'annotations:\n    olm.skipRange: ">=0.1.0 <0.3.0"\n', 1
    )
    file.write_text(ranged)
    (folder / "rendered.yaml").write_text(kubectl("kustomize", "config/manifests"))
    what = ["--version", "0.3.0", "--image", "example.com/op:v0.3.0"]
    assert main(["bundle", *what, "--manifests", "rendered.yaml"]) == 0
    assert main(["catalog", "--bundle-image", "example.com/op-bundle:v0.3.0"]) == 0
    assert judge(folder) == ["judged a bundle with 1 CRDs", "judged a catalog with 3 bundles"]
