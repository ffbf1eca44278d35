"""Two engines on one machine, of one cluster or of two: none takes what another uses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client, Credentials, NotFoundError
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

SLOW = kind("Slow")


@pytest.fixture
async def other_api(own_cluster: Cluster, namespace: str) -> AsyncIterator[Client]:
    """Another cluster, with a namespace of the same name and the kind."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    own_cluster.api.create("/api/v1/namespaces", body)
    async with Client(Credentials.load({"KUBECONFIG": str(own_cluster.kubeconfig)})) as client:
        await install(client, crd_for(SLOW))
        yield client


@pytest.fixture
async def slow(api: Client) -> None:
    await install(api, crd_for(SLOW))


def folder(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir()
    return made


def began(where: Path) -> None:
    eventually((where / "began").exists, timeout_s=PATIENCE_S)


async def succeeded(client: Client, namespace: str) -> None:
    async def is_over() -> bool:
        return is_successful(await client.get(SLOW, namespace, "x"))

    await eventually_async(is_over, timeout_s=PATIENCE_S)


def runs_below(root: Path) -> set[Path]:
    return {path.parent.relative_to(root) for path in root.rglob("x/artifacts")}


@pytest.mark.nightly
@pytest.mark.usefixtures("slow")
async def test_engines_of_two_clusters_share_a_machine(
    api: Client,
    other_api: Client,
    own_cluster: Cluster,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
) -> None:
    shared, temporary = tmp_path / "runner", folder(tmp_path, "tmp")

    def start(**more: Path) -> EngineProcess:
        return start_engine(
            BEHAVIOURS,
            f"--artifacts-dir={shared}",
            environment={"TMPDIR": str(temporary)},
            **more,
        )

    ours, theirs = folder(tmp_path, "ours"), folder(tmp_path, "theirs")
    await api.create(SLOW, cr(SLOW, namespace, folder=str(ours)))
    await other_api.create(SLOW, cr(SLOW, namespace, folder=str(theirs)))
    engine = start()
    began(ours)
    other = start(kubeconfig=own_cluster.kubeconfig)
    began(theirs)
    assert len(runs_below(shared)) == 2
    used = set(temporary.glob("rolecall-*"))

    # Its own leftovers go when it starts anew; those that the first one uses stay.
    other.process.kill()
    other.process.wait()
    left = set(temporary.glob("rolecall-engine-*"))
    assert len(left) == 2
    other = start(kubeconfig=own_cluster.kubeconfig).wait_ready()
    eventually(
        lambda: left & set(temporary.glob("rolecall-engine-*")), lambda stayed: len(stayed) == 1
    )
    assert used & set(temporary.glob("rolecall-run-*"))

    for where in (ours, theirs):
        (where / "go").touch()
    for client in (api, other_api):
        await succeeded(client, namespace)
    eventually(lambda: engine.runs("Slow") == 1)

    # What goes with a CR of one cluster is not what the other keeps of its own.
    documented = next(path for path in runs_below(shared) if ".clusters" not in path.parts)
    await api.delete(SLOW, namespace, "x")
    eventually(lambda: not (shared / documented).exists(), timeout_s=PATIENCE_S)
    assert len(runs_below(shared)) == 1
    assert is_successful(await other_api.get(SLOW, namespace, "x"))
    assert other.process.poll() is None


@pytest.mark.nightly
@pytest.mark.usefixtures("slow")
async def test_engine_that_takes_the_folder_of_another_cluster_over_keeps_its_runs(
    api: Client,
    other_api: Client,
    own_cluster: Cluster,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
) -> None:
    shared, ours = tmp_path / "runner", folder(tmp_path, "ours")
    (ours / "go").touch()
    await api.create(SLOW, cr(SLOW, namespace, folder=str(ours)))
    engine = start_engine(BEHAVIOURS, f"--artifacts-dir={shared}")
    await succeeded(api, namespace)
    assert engine.stop() == 0
    kept = runs_below(shared)
    assert len(kept) == 1

    with pytest.raises(NotFoundError):
        await other_api.get(SLOW, namespace, "x")
    other = start_engine(
        BEHAVIOURS,
        f"--artifacts-dir={shared}",
        "--zap-log-level=debug",
        kubeconfig=own_cluster.kubeconfig,
    )
    other.wait_ready()
    # Its sweep is over once it has run something that came later.
    theirs = folder(tmp_path, "theirs")
    (theirs / "go").touch()
    later = cr(SLOW, namespace, folder=str(theirs))
    later["metadata"]["name"] = "later"
    await other_api.create(SLOW, later)
    eventually(lambda: other.runs("Slow") == 1, timeout_s=PATIENCE_S)
    assert runs_below(shared) == kept


@pytest.mark.nightly
@pytest.mark.usefixtures("slow")
def test_engine_that_starts_leaves_a_run_role_under_way_alone(
    cluster: Cluster, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    temporary, ours = folder(tmp_path, "tmp"), folder(tmp_path, "ours")
    file = tmp_path / "cr.yaml"
    file.write_text(yaml.safe_dump(cr(SLOW, namespace, folder=str(ours))))
    command = [sys.executable, "-m", "rolecall", "run-role", "--cr", str(file)]
    environment = os.environ | {
        "TMPDIR": str(temporary),
        "KUBECONFIG": str(cluster.kubeconfig),
        "ANSIBLE_GATHERING": "explicit",
    }
    with subprocess.Popen(
        command, cwd=BEHAVIOURS, env=environment, stderr=subprocess.PIPE, text=True
    ) as by_hand:
        try:
            began(ours)
            start_engine(BEHAVIOURS, environment={"TMPDIR": str(temporary)}).wait_ready()
            (ours / "go").touch()
            _, said = by_hand.communicate(timeout=PATIENCE_S)
        finally:
            by_hand.kill()
    assert by_hand.returncode == 0, said
