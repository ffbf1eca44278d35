"""The wheel in environments as people have them: another ansible-core, or half of what it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tools import setup

from tests.fixtures.lacking import skip_or_fail

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "e2e" / "project"
HERE = setup.dotted(sys.version_info)
CORES = [core for core, fitting in setup.known_cores() if HERE in fitting]


class Installed:
    """An environment with the wheel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"

    def uv(self, *words: str | Path) -> None:
        """Change what is installed."""
        uv = Path(sys.executable).with_name("uv")
        done = run(uv, "pip", *words, "--quiet", "--python", self.python)
        assert done.returncode == 0, done.stderr

    def rolecall(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of it on a project."""
        return run(self.folder / "bin" / "rolecall", *words, cwd=PROJECT)


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**kept, "KUBECONFIG": "/nowhere/at/all"},  # an engine that begins ends there
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What a pod gets: the engine, its warm host, and what both share."""
    folder = tmp_path_factory.mktemp("dist")
    for source in (ROOT, ROOT / "base", ROOT / "warm"):
        build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
        done = run(*build, cwd=source)
        assert done.returncode == 0, done.stderr
    return list(folder.glob("*.whl"))


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Callable[[str], Installed]]:
    """A factory of environments: what the image has, with one ansible-core of one's choice."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        skip_or_fail("uv is not in the environment; `make setup` installs it")
    folder = tmp_path / "environment"

    def make(core: str) -> Installed:
        done = run(uv, "venv", "--quiet", "--python", sys.executable, folder)
        assert done.returncode == 0, done.stderr
        made = Installed(folder)
        made.uv("install", "--require-hashes", "-r", "lock/runtime.txt")
        lock = f"lock/core/{core}.txt"
        made.uv("install", "--require-hashes", "--no-deps", "-r", lock)
        return made

    yield make
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.nightly
@pytest.mark.parametrize("core", [CORES[0], CORES[-1]])
def test_installing_the_wheel_keeps_the_ansible_core_that_is_there(
    environment: Callable[[str], Installed], wheels: list[Path], core: str
) -> None:
    installed = environment(core)
    # pip, with the wheel's own dependencies: what most people type.
    pip = run(sys.executable, "-m", "pip", "--python", installed.python, "install", "-q", *wheels)
    assert pip.returncode == 0, pip.stderr
    said = installed.rolecall("version")
    assert f"ansible-core:    {core}." in said.stdout, said.stderr
    assert "runs:            " in said.stdout
    checked = installed.rolecall("run", "--validate")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.nightly
def test_environment_that_lacks_something_is_reported_in_one_line(
    environment: Callable[[str], Installed], wheels: list[Path]
) -> None:
    installed = environment(CORES[0])
    installed.uv("install", "--no-deps", *wheels)
    installed.uv("uninstall", "rolecall-warm")
    assert "stock, because rolecall-warm is not installed" in installed.rolecall("version").stdout
    installed.uv("install", "--no-deps", *wheels)
    installed.uv("uninstall", "kubernetes")
    said = installed.rolecall("run")
    (line,) = [line for line in said.stderr.splitlines() if "Kubernetes client" in line]
    assert f"uv pip install --python {installed.python} kubernetes" in line
    assert "stock, because the Kubernetes client" in installed.rolecall("version").stdout

    installed.uv("install", "--no-deps", "ansible-core==2.17.14")
    expect_refusal(installed, "ansible-core 2.17.14 is too old: plays need 2.18 or newer")

    installed.uv("uninstall", "ansible-core")
    expect_refusal(installed, "ansible-core is not installed for")


def expect_refusal(installed: Installed, words: str) -> None:
    said = installed.rolecall("run")
    assert said.returncode == 2, said.stderr
    assert len([line for line in said.stderr.splitlines() if words in line]) == 1, said.stderr
    assert "Traceback" not in said.stderr
    assert "ansible-core" in installed.rolecall("version").stdout
