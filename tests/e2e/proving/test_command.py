"""`rolecall test` as its users have it: exit codes, text, JUnit, findings tried again, an early end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree  # of a file that the command wrote

import pytest

from rolecall_dev.localcluster import find_cluster
from tests.e2e.engine import PATIENCE_S, ROOT, has_engine
from tests.e2e.proving.small_roles import read_roles, write_project
from tests.fixtures.eventually import eventually

_WORK_S = 6 * PATIENCE_S
_MARK = "ROLECALL_TEST_OF"
_CLUSTER = re.compile(r"cluster: context rolecall-(\S+), ")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One kind, whose role makes its object once and never looks at it again."""
    role = next(each for each in read_roles("seeded") if each.name == "create_only")
    return write_project(tmp_path / "project", [replace(role, name="thing")])


@pytest.mark.nightly
def test_a_finding_can_be_tried_again_until_the_role_is_mended(
    project: Path, tmp_path: Path
) -> None:
    junit = tmp_path / "build" / "test.xml"
    ended = _command(project, "--check", "drift", "--junit", str(junit))
    assert ended.returncode == 1, ended.stderr
    assert "ConfigMap/one edited, and it is repaired not even by a further run" in ended.stdout
    assert "task: roles/thing/tasks/main.yml:8" in ended.stdout
    assert re.search(r"^test: 1 finding in \d+ cases; \d+ runs, ", ended.stdout, re.MULTILINE)
    suite = ElementTree.parse(junit).getroot()
    (failed,) = [case for case in suite if case.find("failure") is not None]
    assert (suite.get("failures"), failed.get("classname")) == ("1", "Thing/one")
    assert len(suite) == int(suite.get("tests", "0")) > 1

    (replay,) = re.findall(r"again: rolecall test --replay (\S+)", ended.stdout)
    assert Path(replay).is_relative_to(".rolecall-test"), "short, and copied with the folder"
    role = project / "roles" / "thing" / "tasks" / "main.yml"
    role.write_text(role.read_text().replace("when: not there.resources", "when: true"))
    mended = _command(project, "--replay", replay)
    assert mended.returncode == 0, mended.stdout
    assert "test: 0 findings in 1 case; " in mended.stdout


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.nightly),
        signal.SIGTERM,
        pytest.param(signal.SIGKILL, marks=pytest.mark.nightly),
    ],
)
def test_ended_demo_leaves_no_process_and_no_cluster(
    project: Path, tmp_path: Path, number: signal.Signals
) -> None:
    mark = f"{os.getpid()}-{number}"
    with _started(project, mark, tmp_path / "said") as process:
        name = eventually(
            lambda: _CLUSTER.findall((tmp_path / "said").read_text()), timeout_s=_WORK_S
        )[0]
        eventually(lambda: has_engine(_marked(mark)), timeout_s=_WORK_S)
        process.send_signal(number)
        code = process.wait(_WORK_S)
        assert code == (130 if number != signal.SIGKILL else -number)
        eventually(lambda: not _marked(mark), timeout_s=PATIENCE_S)
        if number != signal.SIGKILL:  # else its folder goes with the next command
            assert find_cluster(name) is None
        assert "Traceback" not in (tmp_path / "said").read_text()


def _command(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rolecall", "test", *words],
        cwd=project,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=_WORK_S * 3,
        check=False,
    )


@contextmanager
def _started(project: Path, mark: str, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    # Short, for sockets; a killed process cannot clear it away.
    temporary = tempfile.TemporaryDirectory(prefix="k", ignore_cleanup_errors=True)
    with said.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", "test"],
            cwd=project,
            env={**_environment(), _MARK: mark, "TMPDIR": temporary.name},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        eventually(lambda: not _marked(mark), timeout_s=PATIENCE_S)
        temporary.cleanup()


def _environment() -> dict[str, str]:
    collections = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
    return {**os.environ, "ANSIBLE_COLLECTIONS_PATH": collections}


def _marked(mark: str) -> list[int]:
    """Processes that have the mark in their environment: all that came of the command."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found
