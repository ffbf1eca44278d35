"""Several replicas divide the CRs: each CR has one that runs it, whatever becomes of the others."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_base.processes import descendants_of, is_zombie
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, is_gone, is_successful, kind
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

pytestmark = pytest.mark.nightly

PROJECT = Path(__file__).parent / "sharing"
PLAIN, MARKING = kind("Plain"), kind("Marking")
LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
LEASE_S, RENEW_S = 8.0, 5.0
SHARDS = 16
WITH_SHARDS = f"--shards={SHARDS}"
NAMES = [f"x{number}" for number in range(24)]
# A hand-over takes well below a second; this is for a machine that is busy, and still below a lease.
AT_ONCE_S = LEASE_S / 2
_RUN_OF = re.compile(r"run started.*\bname=(\S+)")

StartReplica = Callable[..., EngineProcess]


@pytest.fixture
def start_replica(start_engine: StartEngine, namespace: str) -> StartReplica:
    """A replica whose Leases run out soon enough for a test; its plays know its name."""

    def start(name: str, mode: str = WITH_SHARDS, kubeconfig: Path | None = None) -> EngineProcess:
        flags = (
            "--leader-election-id=shared",
            f"--leader-election-namespace={namespace}",
            f"--leader-elect-lease-duration={LEASE_S:g}s",
            f"--leader-elect-renew-deadline={RENEW_S:g}s",
            "--graceful-shutdown-timeout=20s",
            mode,
        )
        more = {} if kubeconfig is None else {"kubeconfig": kubeconfig}
        return start_engine(PROJECT, *flags, environment={"REPLICA": name}, **more)

    return start


@pytest.fixture(autouse=True)
async def kinds(api: Client) -> None:
    for gvk in (PLAIN, MARKING):
        await install(api, crd_for(gvk))


def held(engine: EngineProcess) -> float:
    return engine.metric("rolecall_shards_held")


def wait_shared(*engines: EngineProcess, timeout_s: float = PATIENCE_S) -> None:
    """Wait until each of them has some shards, and together they have all."""

    def is_divided() -> bool:
        parts = [held(engine) for engine in engines]
        return all(parts) and sum(parts) == SHARDS

    eventually(is_divided, timeout_s=timeout_s)


def two_replicas(start_replica: StartReplica) -> tuple[EngineProcess, EngineProcess]:
    first, second = start_replica("first"), start_replica("second")
    wait_shared(first, second)
    return first, second


def runs_of(engine: EngineProcess) -> Counter[str]:
    """How often it began a run of each CR."""
    return Counter(_RUN_OF.findall(engine.log))


def runs_below(engine: EngineProcess) -> list[int]:
    """The processes of its runs in flight."""
    below = descendants_of(engine.process.pid)
    return [pid for pid in below if Path(f"/proc/{pid}/comm").read_text() == "rolecall-run\n"]


async def create_all(api: Client, namespace: str) -> None:
    for name in NAMES:
        await api.create(PLAIN, cr(PLAIN, namespace, name))
    for name in NAMES:
        await succeeds(api, PLAIN, namespace, name)


async def succeeds(api: Client, gvk: Gvk, namespace: str, name: str) -> Json:
    return await eventually_async(
        lambda: api.get(gvk, namespace, name), is_successful, timeout_s=PATIENCE_S
    )


async def tenures(api: Client, namespace: str) -> set[str]:
    """The names of the members' Leases that no replica declared dead."""
    leases = await api.list_all(LEASE, namespace)
    return {
        lease["metadata"]["name"]
        for lease in leases
        if "-member-" in lease["metadata"]["name"] and lease["spec"].get("holderIdentity")
    }


async def test_each_cr_is_run_by_one_and_only_what_moves_to_a_third_is_run_once_more(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    await create_all(api, namespace)
    before = runs_of(first) + runs_of(second)
    assert before == Counter(NAMES)
    assert runs_of(first), "the first one has its part"
    assert runs_of(second), "the second one has its part"

    third = start_replica("third")
    wait_shared(first, second, third)

    eventually(lambda: third.metric("rolecall_queue_delayed") == len(runs_of(third)) > 0)
    assert runs_of(first) + runs_of(second) == before, "what stayed was not run again"
    assert set(runs_of(third).values()) == {1}
    assert 0 < len(runs_of(third)) < len(NAMES)

    began = time.monotonic()
    third.send(signal.SIGTERM)
    wait_shared(first, second, timeout_s=AT_ONCE_S)
    assert time.monotonic() - began < AT_ONCE_S, "no replica waited for a lease"
    assert third.wait() == 0
    moved_back = runs_of(first) + runs_of(second) - before
    assert set(moved_back) <= set(runs_of(third))


async def test_cr_that_is_deleted_or_made_while_shards_move_is_seen_to(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    await create_all(api, namespace)
    third = start_replica("third")
    for number, name in enumerate(NAMES[:12]):
        await api.delete(PLAIN, namespace, name)
        await api.create(PLAIN, cr(PLAIN, namespace, f"late{number}"))
    wait_shared(first, second, third)
    for number in range(12):
        await succeeds(api, PLAIN, namespace, f"late{number}")
    for name in NAMES[:12]:
        assert await is_gone(api, PLAIN, namespace, name)


async def test_replica_that_was_killed_is_followed_after_its_lease(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    await create_all(api, namespace)
    others = set(runs_of(first))

    first.process.kill()
    began = time.monotonic()
    eventually(lambda: held(second) == SHARDS, timeout_s=PATIENCE_S)
    assert time.monotonic() - began < LEASE_S + AT_ONCE_S

    eventually(lambda: others <= set(runs_of(second)), timeout_s=PATIENCE_S)
    assert runs_of(second) == Counter(NAMES)


async def test_frozen_replica_writes_nothing_when_it_wakes_up_and_joins_again(
    api: Client, namespace: str, start_replica: StartReplica, tmp_path: Path
) -> None:
    first = start_replica("first")
    eventually(lambda: held(first) == SHARDS, timeout_s=PATIENCE_S)
    (folder := tmp_path / "marks").mkdir()
    await api.create(MARKING, cr(MARKING, namespace, folder=str(folder)))
    eventually((folder / "began-first").exists, timeout_s=PATIENCE_S)
    (old_tenure,) = await tenures(api, namespace)
    run = runs_below(first)
    assert run

    os.kill(first.process.pid, signal.SIGSTOP)
    second = start_replica("second")
    eventually((folder / "began-second").exists, timeout_s=PATIENCE_S)
    known = await api.get(MARKING, namespace, "x")
    os.kill(first.process.pid, signal.SIGCONT)
    eventually(lambda: "shards lost" in first.log, timeout_s=PATIENCE_S)
    eventually(lambda: first.metric("rolecall_runs_frozen_total") == 1)
    assert await api.get(MARKING, namespace, "x") == known, (
        "the replica that woke up has written nothing"
    )

    eventually(lambda: all(map(is_zombie, run)), timeout_s=AT_ONCE_S)
    assert not (folder / "went-first").exists()
    (folder / "go").touch()
    eventually((folder / "went-second").exists, timeout_s=PATIENCE_S)
    await succeeds(api, MARKING, namespace, "x")
    assert second.runs("Marking", result="succeeded") == 1
    wait_shared(first, second)
    assert len(await tenures(api, namespace) - {old_tenure}) == 2
    assert first.process.poll() is None, "it goes on"


async def test_replicas_that_work_in_another_way_wait_and_say_why(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first = start_replica("first")
    eventually(lambda: held(first) == SHARDS, timeout_s=PATIENCE_S)
    leader = start_replica("leader", "--leader-elect")
    other = start_replica("other", "--shards=8")

    eventually(lambda: "divide the CRs into shards, this one does not" in leader.log)
    eventually(lambda: "divide keys into 16 shards, this one into 8" in other.log)
    leader.wait_ready()
    other.wait_ready()
    await create_all(api, namespace)
    assert runs_of(first) == Counter(NAMES)
    assert not runs_of(leader)
    assert not runs_of(other)


async def test_replica_beside_a_leader_without_shards_waits_until_that_one_ends(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    leader = start_replica("leader", "--leader-elect")
    eventually(
        lambda: leader.metric("leader_election_master_status", name="shared") == 1,
        timeout_s=PATIENCE_S,
    )
    first = start_replica("first").wait_ready()
    eventually(lambda: "works without shards" in first.log, timeout_s=PATIENCE_S)
    assert held(first) == 0
    assert "works without shards" in first.ask("probes", "/readyz?verbose")[1]

    assert leader.stop() == 0
    eventually(lambda: held(first) == SHARDS, timeout_s=PATIENCE_S)


async def test_replica_that_may_not_touch_leases_says_which_right_it_lacks(
    namespace: str,
    start_replica: StartReplica,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    everything = [{"apiGroups": ["e2e.rolecall.dev"], "resources": ["*"], "verbs": ["*"]}]
    first = start_replica("first", kubeconfig=service_account_kubeconfig(everything))
    refused = "not allowed what shards need"
    eventually(lambda: refused in first.log, timeout_s=PATIENCE_S)
    line = next(line for line in first.log.splitlines() if refused in line)
    assert "coordination.k8s.io" in line
    assert "resources: [leases]" in line, "the rule to add"
    assert held(first) == 0
