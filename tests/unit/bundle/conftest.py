"""A project with the parts that a bundle is made of, rendered as kustomize would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main

WriteBundle = Callable[..., int]
_WANTED = ("crd/bases", "rbac", "manager", "samples", "manifests/bases", "default")
_NOT_OBJECTS = (
    "kustomization.yaml",
    "manager_metrics_patch.yaml",
    "manager_namespace_patch.yaml",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scaffold with one kind, and all its manifests in one file."""
    folder = tmp_path / "memcached-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "cache", "--version", "v1", "--kind", "Memcached"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    paths = [path for name in _WANTED for path in sorted((folder / "config" / name).glob("*.yaml"))]
    texts = [path.read_text() for path in paths if path.name not in _NOT_OBJECTS]
    (folder / "rendered.yaml").write_text("\n---\n".join(texts))
    return folder


@pytest.fixture
def write_bundle(project: Path) -> WriteBundle:
    """`rolecall bundle` with a version and more flags."""

    def write(version: str = "0.1.0", *flags: str, image: str = "example.com/op:v1") -> int:
        what = ["--version", version, "--image", image, "--manifests", "rendered.yaml"]
        return main(["bundle", *what, *flags])

    return write


def csv_path(project: Path) -> Path:
    """The CSV of the bundle."""
    return project / "bundle" / "manifests" / "memcached-operator.clusterserviceversion.yaml"


def change_csv(project: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Break it."""
    csv = yaml.safe_load(csv_path(project).read_text())
    change(csv)
    csv_path(project).write_text(yaml.safe_dump(csv))
