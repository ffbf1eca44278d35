"""A folder to scaffold in, and the command line to do it with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall_dev.checks import Project, check_project

Rolecall = Callable[..., int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with a name that a project may have."""
    folder = tmp_path / "memcached-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def project(folder: Path) -> Path:
    """A project without kinds."""
    assert main(["init", "--domain", "example.com"]) == 0
    return folder


def problems_of_check() -> list[str]:
    """What `rolecall check --strict` says where the collections are installed."""
    project = Project(Path.cwd(), os.environ, for_strict_core=True)
    return [str(problem) for problem in check_project(project).findings.problems]


def create_api(*flags: str, kind: str = "Memcached", version: str = "v1alpha1") -> int:
    """`rolecall create api` for a kind of the group `cache`."""
    names = ["--group", "cache", "--version", version, "--kind", kind]
    return main(["create", "api", *names, *flags])


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
