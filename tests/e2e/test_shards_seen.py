"""What people see of replicas that divide the CRs: before, while and after one of them is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.local_engine import ControlRefusedError, LocalEngine, engines_of
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

PROJECT = Path(__file__).parent / "sharing"
PLAIN = kind("Plain")
COUNT, LEASE_S = 32, 6.0  # so many shards never go all to one of two replicas

StartReplica = Callable[[str], EngineProcess]


@pytest.fixture
def start_replica(start_engine: StartEngine, namespace: str) -> StartReplica:
    def start(name: str) -> EngineProcess:
        flags = (
            "--leader-election-id=seen",
            f"--leader-election-namespace={namespace}",
            f"--leader-elect-lease-duration={LEASE_S:g}s",
            "--leader-elect-renew-deadline=4s",
            f"--shards={COUNT}",
        )
        return start_engine(PROJECT, *flags, environment={"REPLICA": name})

    return start


def control(engine: EngineProcess) -> LocalEngine:
    ((found, _),) = eventually(lambda: engines_of([engine.artifacts]), timeout_s=PATIENCE_S)
    return found


def shards(engine: EngineProcess) -> Json:
    found = control(engine).shards()
    assert found is not None
    return found


def parts(seen: Json) -> list[int]:
    """How many shards each replica has, as one of them sees it."""
    return [len(member["shards"]) for member in seen["members"]]


def rolecall(engine: EngineProcess, *words: str) -> subprocess.CompletedProcess[str]:
    place = ("--artifacts-dir", str(engine.artifacts))
    return subprocess.run(
        [sys.executable, "-m", "rolecall", *words, *place],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
async def test_holders_of_shards_are_reported_before_while_and_after_a_replica_is_killed(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    await install(api, crd_for(PLAIN))
    first, second = start_replica("first"), start_replica("second")
    for each in (first, second):
        eventually(
            lambda: sum(parts(shards(each))) == COUNT and min(parts(shards(each))) > 0,  # noqa: B023
            timeout_s=PATIENCE_S,
        )
    names = [f"x{number}" for number in range(12)]
    for name in names:
        await api.create(PLAIN, cr(PLAIN, namespace, name))
    for name in names:
        await eventually_async(
            lambda: api.get(PLAIN, namespace, name),  # noqa: B023
            is_successful,
            timeout_s=PATIENCE_S,
        )

    said = rolecall(second, "status", "--shards").stdout.splitlines()
    assert [line.split()[-2] for line in said[1:3]] == ["works", "works"], said
    assert said[-1] == f"each of the {COUNT} shards has a replica"
    theirs = _of_other(second, names)
    assert theirs, "12 CRs in 8 shards are not all of one replica"
    asked = {"kind": "Plain", "namespace": namespace, "name": theirs[0]}
    with pytest.raises(ControlRefusedError, match="has shard"):
        control(second).reconcile(asked)
    shown = rolecall(second, "status", f"plain/{theirs[0]}").stdout
    assert "has its shard" in shown and "state   unknown" in shown

    first.process.kill()
    first.process.wait()

    def is_over() -> bool:
        seen = shards(second)
        unheld = [gap["shard"] for gap in seen["unheld"]]
        held = [shard for member in seen["members"] for shard in member["shards"]]
        assert sorted(held + unheld) == list(range(COUNT)), "each is held, or reported as unheld"
        return parts(seen) == [COUNT]

    eventually(is_over, timeout_s=PATIENCE_S)
    assert rolecall(second, "status", "--shards").stdout.count("works") == 1
    eventually(lambda: not _of_other(second, names), timeout_s=PATIENCE_S)
    control(second).reconcile(asked)
    assert (
        f"each of the {COUNT} shards has a replica" in rolecall(second, "status", "--shards").stdout
    )


def _of_other(engine: EngineProcess, names: list[str]) -> list[str]:
    """The CRs of which this replica says that another one has them, or none."""
    state = control(engine).state()
    own = state["engine"]["shards"]["replica"]
    return [cr["name"] for cr in state["crs"] if cr["name"] in names and cr["replica"] != own]
