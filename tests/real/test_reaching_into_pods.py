"""Roles that exec into pods, copy files and read logs, through our proxy, in both ways of running.

The engine is a process on the machine here: what is tested is the way of the bytes, and that is the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster, load_images
from tests.e2e.engine import EngineProcess
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually
from tests.real import images
from tests.real.world import PATIENCE_S, World, condition

REACH = Gvk("real.example.com", "v1", "Reach")
PROJECT = Path(__file__).parent / "project"
WORD = "schöne Grüße: words in UTF-8"


@pytest.fixture(scope="module")
def pod(real_cluster: Cluster, world: World, first_image: Path) -> str:
    """One with a shell, tar and files in it: our own image does."""
    load_images(real_cluster, [first_image])
    world.kubectl("create", "-f", "-", stdin=_pod())
    world.kubectl("wait", "--for=condition=Ready", "pod/aim", f"--timeout={PATIENCE_S:.0f}s")
    return "aim"


def _pod() -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: aim}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: aim
      image: {images.FIRST}
      command: [tini, --, sh, -c, "echo first line; echo last line; sleep infinity"]
"""


@pytest.fixture(scope="module", params=["warm", "stock"])
def engine(
    request: pytest.FixtureRequest, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EngineProcess]:
    world.apply(crd_for(REACH))
    world.kubectl(
        "wait", "--for=condition=Established", "crd", f"{REACH.kind.lower()}s.{REACH.group}"
    )
    process = EngineProcess(
        PROJECT,
        tmp_path_factory.mktemp("reach") / "scratch",
        kubeconfig=world.cluster.kubeconfig,
        flags=[f"--runner={request.param}"],
        environment={"WATCH_NAMESPACE": world.namespace},
    )
    yield process.wait_ready()
    process.clean_up()


def test_role_reaches_into_a_pod(
    request: pytest.FixtureRequest, engine: EngineProcess, world: World, pod: str
) -> None:
    way = request.node.callspec.params["engine"]
    spec = {"pod": pod, "word": WORD}
    name = f"by-{way}"
    metadata = {"name": name}
    world.apply(
        {"apiVersion": REACH.api_version, "kind": REACH.kind, "metadata": metadata, "spec": spec}
    )

    def ended() -> Json:
        return world.get("reach", name)

    cr = eventually(ended, has_ended, timeout_s=PATIENCE_S)
    assert condition(cr, "Successful").get("status") == "True", cr["status"]
    found = {key: value for key, value in cr["status"].items() if key in EXPECTED}
    assert found == EXPECTED
    assert engine.runs("Reach", way=way, result="succeeded") >= 1
    world.kubectl("delete", "reach", name)  # else the next engine begins with it


EXPECTED = {
    "code": 3,
    "stdout": "to-stdout\n",
    "stderr": "to-stderr\n",
    "lines": 100000,
    "word": WORD,
    "isSame": True,
    "log": "first line\nlast line\n",
}


def has_ended(cr: Json) -> bool:
    return any(condition(cr, each).get("status") == "True" for each in ("Successful", "Failure"))
