"""The pytest plugin in the project of a stranger: what the guide shows, and what a failed test says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Binaries
from tests.e2e.engine import ROOT

GUIDE = ROOT / "docs" / "guides" / "testing.md"
_NEVER = """
def test_never(engine, eventually, namespace):
    eventually(lambda: "what was seen", lambda value: value == "never", timeout_s=0.1)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a kind, made just now, and the guide's test."""
    project = tmp_path / "shop"
    project.mkdir()
    for words in (
        ("init", "--domain=example.com"),
        ("create", "api", "--group=shop", "--version=v1", "--kind=Website", "--generate-role"),
    ):
        command = [sys.executable, "-m", "rolecall", *words]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    example = GUIDE.read_text().partition("```python\n")[2].partition("```")[0]
    (project / "tests" / "test_guide.py").write_text(example)
    (project / "tests" / "test_never.py").write_text(_NEVER)
    return project


def test_tests_of_a_new_project_and_of_the_guide_pass_and_a_failed_one_shows_the_log(
    project: Path, binaries: Binaries
) -> None:
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections")}
    del environment["PYTEST_CURRENT_TEST"]
    words = ("-m", "pytest", "-p", "rolecall_dev.pytest_plugin", "-p", "no:asyncio", "tests")
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "2 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "seen last: 'what was seen'" in done.stdout
    assert "the operator's log ends with:" in done.stdout and "run finished" in done.stdout
