"""The wheels in clean environments: one makes a project, the other has the engine alone and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S, ROOT, EngineProcess
from tests.e2e.kinds import CONFIG_MAP
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually_async
from tests.fixtures.lacking import skip_or_fail

pytestmark = pytest.mark.nightly

KIND = Gvk("wheel.example.com", "v1", "Site")
# A module of the collection that the wheel carries; it must be found without any install step.
REQUEUE = """
- name: Come back in an hour
  operator_sdk.util.requeue_after:
    time: 1h
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def uv() -> Path:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        skip_or_fail("uv is not in the environment; `make setup` installs it")
    return uv


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    for source in (ROOT, ROOT / "base", ROOT / "warm", ROOT / "dev"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return folder


def make_environment(uv: Path, folder: Path, *wanted: str | Path) -> Path:
    """A virtual environment with nothing of this repository but what is wanted; its programs."""
    run(uv, "venv", "--quiet", "--python", sys.executable, folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--python", python, *wanted, cwd=folder.parent)
    return python.parent


@pytest.fixture
def clean(tmp_path: Path, uv: Path, wheels: Path) -> Iterator[Path]:
    """What the image has."""
    locked = ("--require-hashes", "-r", ROOT / "lock" / "runtime.txt")
    programs = make_environment(uv, tmp_path / "clean", *locked)
    own = [path for path in wheels.glob("*.whl") if not path.name.startswith("rolecall_dev-")]
    into = (uv, "pip", "install", "--quiet", "--python", programs / "python")
    run(*into, "--no-deps", *own, cwd=tmp_path)
    yield programs
    shutil.rmtree(programs.parent)


@pytest.fixture
def developers(tmp_path: Path, uv: Path, wheels: Path) -> Iterator[Path]:
    """What developers get by `pip install 'rolecall[dev]'`."""
    locked = ("--constraint", ROOT / "lock" / "dev.txt", "--find-links", wheels)
    programs = make_environment(uv, tmp_path / "developers", *locked, "rolecall[dev]")
    yield programs
    shutil.rmtree(programs.parent)


@pytest.fixture
def project(tmp_path: Path, developers: Path) -> Path:
    folder = tmp_path / "site-operator"
    folder.mkdir()
    names = ("--group", "wheel", "--version", "v1", "--kind", "Site")
    rolecall = developers / "rolecall"
    run(rolecall, "init", "--domain", "example.com", *names, cwd=folder)
    (folder / ".collections").symlink_to(ROOT / ".collections")
    run(rolecall, "check", "--strict", cwd=folder)
    run(rolecall, "rbac", "--check", cwd=folder)
    with (folder / "roles" / "site" / "tasks" / "main.yml").open("a") as tasks:
        tasks.write(REQUEUE)
    return folder


@pytest.fixture
def engine(
    tmp_path: Path, clean: Path, project: Path, cluster: Cluster, namespace: str
) -> Iterator[EngineProcess]:
    engine = EngineProcess(
        project,
        tmp_path / "engine",
        kubeconfig=cluster.kubeconfig,
        environment={
            "WATCH_NAMESPACE": namespace,
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        },
        python=str(clean / "python"),
    )
    try:
        yield engine
    finally:
        print(engine.log, engine.play_output)
        engine.clean_up()


def test_engine_alone_says_where_other_commands_come_from(clean: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [clean / "rolecall", "init"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'rolecall[dev]'" in done.stderr
    assert "rolecall 0" in run(clean / "rolecall", "--version", cwd=tmp_path)
    assert "--validate" in run(clean / "rolecall", "run", "--help", cwd=tmp_path)


async def test_engine_alone_reconciles_with_a_project_that_developers_made(
    api: Client, namespace: str, clean: Path, project: Path, engine: EngineProcess
) -> None:
    crd = project / "config" / "crd" / "bases" / "wheel.example.com_sites.yaml"
    run(clean / "rolecall", "run", "--validate", cwd=project)
    await install(api, yaml.safe_load(crd.read_text()))
    engine.wait_ready()
    cr = yaml.safe_load((project / "config" / "samples" / "wheel_v1_site.yaml").read_text())
    await api.create(KIND, {**cr, "metadata": {"name": "x", "namespace": namespace}})

    async def conditions() -> dict[str, str]:
        found = await api.get(KIND, namespace, "x")
        return {row["type"]: row["status"] for row in found["status"]["conditions"]}

    await eventually_async(
        conditions,
        lambda found: found.get("Successful") == "True",
        timeout_s=PATIENCE_S,
        ignoring=(LookupError, NotFoundError),
    )
    found = await api.get(CONFIG_MAP, namespace, "x-message")
    assert found["data"] == {"message": "hello"}
    await eventually_async(lambda: "next_in_s=3600" in engine.log)
