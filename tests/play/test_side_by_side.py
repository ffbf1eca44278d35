"""`rolecall run-role` beside others on the same machine: none takes what is in use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from rolecall.runner.temporary import remove_abandoned
from tests.fixtures.eventually import eventually
from tests.play.plays import HERE

PATIENCE_S = 180.0
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one kind, two CRs, and a folder for temporary files."""
    gvk = {"group": "demo.example.com", "version": "v1", "kind": "Waiting"}
    entry = {**gvk, "role": f"{HERE}/roles/waiting"}
    (tmp_path / "watches.yaml").write_text(yaml.safe_dump([entry]))
    (tmp_path / "kubeconfig").write_text("{}")
    (tmp_path / "tmp").mkdir()
    for name in ("one", "two"):
        cr = {
            "apiVersion": "demo.example.com/v1",
            "kind": "Waiting",
            "metadata": {"name": name, "namespace": "mine"},
            "spec": {"folder": str(tmp_path)},
        }
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(cr))
    return tmp_path


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    """A factory: `start("one", "--artifacts-dir", "kept")`."""
    with ExitStack() as ending:

        def started(name: str, *more: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "rolecall", "run-role", "--cr", f"{name}.yaml", *more],
                cwd=project,
                env={
                    **os.environ,
                    "KUBECONFIG": str(project / "kubeconfig"),
                    "ANSIBLE_GATHERING": "explicit",
                    "TMPDIR": str(project / "tmp"),
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            ending.callback(_end, process)
            return process

        yield started


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def began(project: Path, name: str) -> None:
    eventually((project / f"began-{name}").exists, timeout_s=PATIENCE_S)


def test_engine_that_starts_leaves_a_run_role_alone(project: Path, start: Start) -> None:
    running = start("one")
    began(project, "one")
    assert remove_abandoned([str(project / "tmp")]) == []
    (project / "go").touch()
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, said
    assert list((project / "tmp").iterdir()) == []


@pytest.mark.nightly
def test_what_a_killed_run_role_left_goes_and_what_another_uses_stays(
    project: Path, start: Start
) -> None:
    killed, living = start("one"), start("two")
    began(project, "one")
    began(project, "two")
    before = set((project / "tmp").iterdir())
    killed.kill()
    killed.wait()
    gone = eventually(lambda: remove_abandoned([str(project / "tmp")]), timeout_s=PATIENCE_S)
    assert len(before) > len(gone) > 0
    (project / "go").touch()
    _, said = living.communicate(timeout=PATIENCE_S)
    assert living.returncode == 0, said
    eventually(lambda: remove_abandoned([str(project / "tmp")]) or not _left(project))


def _left(project: Path) -> list[Path]:
    return list((project / "tmp").glob("rolecall-*"))


@pytest.mark.nightly
def test_two_of_one_cr_run_beside_each_other(project: Path, start: Start) -> None:
    both = [start("one"), start("one")]
    began(project, "one")
    (project / "go").touch()
    for each in both:
        _, said = each.communicate(timeout=PATIENCE_S)
        assert each.returncode == 0, said


@pytest.mark.nightly
def test_two_of_one_cr_never_share_a_folder(project: Path, start: Start) -> None:
    running = start("one", "--artifacts-dir=kept")
    began(project, "one")
    second = start("one", "--artifacts-dir=kept")
    _, said = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 2
    assert "another process runs a play for `mine/one`" in said
    (project / "go").touch()
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, said


@pytest.mark.nightly
def test_two_crs_may_be_run_into_one_folder_at_once(project: Path, start: Start) -> None:
    both = [start(name, "--artifacts-dir=kept") for name in ("one", "two")]
    for name in ("one", "two"):
        began(project, name)
    (project / "go").touch()
    for each in both:
        _, said = each.communicate(timeout=PATIENCE_S)
        assert each.returncode == 0, said
