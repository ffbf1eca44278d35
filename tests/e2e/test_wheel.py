"""The wheel in a clean environment, in another folder: scaffold a project, and reconcile with it."""

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
from rolecall.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S, ROOT, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, install
from tests.fixtures.eventually import eventually_async
from tests.fixtures.lacking import skip_or_fail

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
def clean(tmp_path: Path) -> Path:
    """A virtual environment with the wheel and what the image has, and nothing of this repository."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        skip_or_fail("uv is not in the environment; `make setup` installs it")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist")
    run(*build, cwd=ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    folder = tmp_path / "clean"
    run(uv, "venv", "--quiet", "--python", sys.executable, folder, cwd=tmp_path)
    into = (uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python")
    run(*into, "--require-hashes", "-r", ROOT / "lock" / "runtime.txt", cwd=tmp_path)
    run(*into, "--no-deps", wheel, cwd=tmp_path)
    return folder


@pytest.fixture
def project(tmp_path: Path, clean: Path) -> Path:
    folder = tmp_path / "site-operator"
    folder.mkdir()
    names = ("--group", "wheel", "--version", "v1", "--kind", "Site")
    rolecall = clean / "bin" / "rolecall"
    run(rolecall, "init", "--domain", "example.com", *names, cwd=folder)
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
        python=str(clean / "bin" / "python"),
    )
    try:
        yield engine
    finally:
        print(engine.log, engine.play_output)
        engine.clean_up()
        shutil.rmtree(clean)


async def test_wheel_alone_scaffolds_and_reconciles(
    api: Client, namespace: str, project: Path, engine: EngineProcess
) -> None:
    crd = project / "config" / "crd" / "bases" / "wheel.example.com_sites.yaml"
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
    assert "next_in_s=3600" in engine.log
