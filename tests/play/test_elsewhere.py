"""On a system without /proc and pidfd: what works there does, and the rest says so in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.runner.stock import process
from tests.fixtures.eventually import eventually
from tests.fixtures.macos import FOLDER, ON_MACOS

PROJECT = Path(__file__).parents[1] / "e2e" / "project"
# The supervisor wants no site, so the path is set by hand.
_SUPERVISED = """
import runpy, sys
runpy.run_path(sys.argv[1])
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def rolecall(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rolecall", *words],
        cwd=cwd,
        env={**os.environ, **ON_MACOS, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


def test_version_says_which_way_runs_go_there(tmp_path: Path) -> None:
    done = rolecall("version", cwd=tmp_path)
    assert "runs:            stock, because warm runs need Linux; this is darwin" in done.stdout


@pytest.mark.parametrize("words", [("check",), ("run", "--help"), ("--help",)])
def test_what_needs_no_cluster_works_there(project: Path, words: tuple[str, ...]) -> None:
    done = rolecall(*words, cwd=project)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
def test_new_project_is_made_and_checked_there(tmp_path: Path) -> None:
    names = ("--group", "demo", "--version", "v1", "--kind", "Thing")
    own = ("--project-name", "things")
    made = rolecall("init", "--domain", "example.com", *own, *names, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    collections = str(PROJECT.parents[2] / ".collections")
    for words in (("check", "--strict"), ("rbac", "--check")):
        done = rolecall(*words, cwd=tmp_path, ANSIBLE_COLLECTIONS_PATH=collections)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [("cluster", "up"), ("cluster", "list"), ("cluster", "kubectl", "get", "nodes"), ("demo",)],
)
def test_local_cluster_says_in_one_line_what_it_needs(words: tuple[str, ...]) -> None:
    done = rolecall(*words, cwd=PROJECT.parents[2])
    assert done.returncode == 2
    what, hint = done.stderr.splitlines()[-2:]
    assert what == "error: the local cluster needs Linux (WSL does); this is darwin"
    assert hint.startswith("hint: `rolecall run`")


def test_role_runs_there(tmp_path: Path) -> None:
    tasks = tmp_path / "roles" / "thing" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text("- ansible.builtin.debug: {msg: 'size {{ size }}'}\n")
    watch = "{group: demo.example.com, version: v1, kind: Thing, role: thing}"
    (tmp_path / "watches.yaml").write_text(f"- {watch}\n")
    (tmp_path / "cr.yaml").write_text(
        "{apiVersion: demo.example.com/v1, kind: Thing, metadata: {name: x}, spec: {size: 3}}"
    )
    (tmp_path / "kubeconfig").touch()
    done = rolecall("run-role", "--cr", "cr.yaml", cwd=tmp_path, KUBECONFIG="kubeconfig")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "size 3" in done.stdout


def test_ended_run_leaves_nothing_there(tmp_path: Path) -> None:
    """Without subreapers: what the command left behind is found by its group."""
    report, report_end = os.pipe()
    marker = str(tmp_path / "alive")
    left_behind = f"(while :; do touch {marker}; sleep 0.01; done) & sleep 1000"
    supervisor = subprocess.Popen(
        [
            *(
                sys.executable,
                "-c",
                _SUPERVISED,
                str(FOLDER / "sitecustomize.py"),
                str(process._SUPERVISOR),
            ),
            *(
                str(report_end),
                str(tmp_path / "scratch"),
                "/bin/sh",
                "-c",
                f"({left_behind}) & wait",
            ),
        ],
        stdin=subprocess.PIPE,
        pass_fds=[report_end],
    )
    os.close(report_end)
    with os.fdopen(report, encoding="utf-8") as reports:
        assert reports.readline().startswith("started ")
        eventually(Path(marker).exists)
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        reported = reports.read().splitlines()
        assert reported[-1] == "signal 9"
        assert all(line.startswith("cpu ") for line in reported[:-1])
    assert supervisor.wait() == 0
    assert not processes_naming(marker)


def processes_naming(text: str) -> list[str]:
    listed = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if text in line]
