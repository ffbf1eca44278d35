"""`rolecall create handler` in a new project: its test passes, and fails once the handler is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall_dev.localcluster import Binaries

ROOT = Path(__file__).parents[2]
_PRESERVE = "              x-kubernetes-preserve-unknown-fields: true\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three kinds with handlers: as they come, with a typed status, and with a wrong handler."""
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", str(ROOT / ".collections"))
    assert main(["init", "--domain", "example.com"]) == 0
    for kind in ("Website", "Typed", "Wrong"):
        names = ["--group", "shop", "--version", "v1", "--kind", kind]
        assert main(["create", "api", *names]) == 0
    replace(project / "config/crd/bases/shop.example.com_typeds.yaml", _PRESERVE, "")
    for kind in ("Website", "Typed", "Wrong"):
        assert main(["create", "handler", "--kind", kind]) == 0
    replace(project / "handlers/wrong.py", 'meta["generation"]', "0")
    return project


@pytest.mark.nightly
def test_test_of_a_new_handler_passes_and_fails_once_the_handler_is_wrong(
    project: Path,
    binaries: Binaries,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "--strict"]) == 0, capsys.readouterr()
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    tests = sorted(str(path) for path in (project / "tests").glob("test_*_handler.py"))
    words = ("-p", "rolecall_dev.pytest_plugin", "-p", "no:asyncio", *tests)
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, check=False, cwd=project, capture_output=True, text=True)
    assert "2 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "FAILED tests/test_wrong_handler.py" in done.stdout
    assert "assert 0 == 1" in done.stdout


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
