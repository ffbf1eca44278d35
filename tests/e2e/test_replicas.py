"""Two replicas, one leader: who runs plays, and who takes over when."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
PLAIN, SLOW = kind("Plain"), kind("Slow")
LEASE_S = 8.0

StartReplica = Callable[[], EngineProcess]


@pytest.fixture
def start_replica(start_engine: StartEngine, namespace: str) -> StartReplica:
    """A replica whose Lease runs out soon enough for a test."""
    flags = (
        "--leader-elect",
        "--leader-election-id=replicas",
        f"--leader-election-namespace={namespace}",
        f"--leader-elect-lease-duration={LEASE_S:g}s",
        "--leader-elect-renew-deadline=6s",
    )
    return lambda: start_engine(BEHAVIOURS, *flags)


@pytest.fixture
async def kinds(api: Client) -> None:
    for gvk in (PLAIN, SLOW):
        await install(api, crd_for(gvk))


def leads(engine: EngineProcess) -> bool:
    return engine.metric("leader_election_master_status", name="replicas") == 1


def comes_to_lead(engine: EngineProcess) -> None:
    eventually(lambda: leads(engine), timeout_s=PATIENCE_S)


def two_replicas(start_replica: StartReplica) -> tuple[EngineProcess, EngineProcess]:
    """The leader, and the one that waits to follow it."""
    first = start_replica().wait_ready()
    comes_to_lead(first)
    return first, start_replica().wait_ready()


async def holder(api: Client, namespace: str) -> str:
    lease = await api.get(LEASE, namespace, "replicas")
    return str(lease["spec"]["holderIdentity"])


async def succeeds(api: Client, namespace: str, name: str) -> None:
    await api.create(PLAIN, cr(PLAIN, namespace, name))
    await eventually_async(
        lambda: api.get(PLAIN, namespace, name),
        is_successful,
        timeout_s=PATIENCE_S,
        ignoring=(NotFoundError, LookupError),
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("kinds")
async def test_only_the_leader_runs_plays_and_both_are_ready(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    await succeeds(api, namespace, "a")
    assert (first.runs("Plain"), second.runs("Plain")) == (1, 0)
    assert not leads(second)


@pytest.mark.usefixtures("kinds")
async def test_leader_that_is_terminated_hands_over_at_once(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    await succeeds(api, namespace, "a")

    assert first.stop() == 0
    assert "lease released" in first.log
    comes_to_lead(second)
    await succeeds(api, namespace, "b")
    eventually(lambda: second.runs("Plain") == 2)  # `a` once more, as after any start


@pytest.mark.nightly
@pytest.mark.usefixtures("kinds")
async def test_leader_that_died_is_followed_when_its_lease_ran_out(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = two_replicas(start_replica)
    first.process.kill()
    comes_to_lead(second)
    await succeeds(api, namespace, "a")


@pytest.mark.nightly
@pytest.mark.usefixtures("kinds")
async def test_frozen_leader_writes_nothing_when_it_wakes_up_and_ends_with_four(
    api: Client, namespace: str, start_replica: StartReplica, tmp_path: Path
) -> None:
    first, second = two_replicas(start_replica)
    (folder := tmp_path / "slow").mkdir()
    await api.create(SLOW, cr(SLOW, namespace, folder=str(folder)))
    eventually((folder / "began").exists, timeout_s=PATIENCE_S)
    first_holder = await holder(api, namespace)

    os.kill(first.process.pid, signal.SIGSTOP)
    comes_to_lead(second)
    (folder / "go").touch()
    done = await eventually_async(
        lambda: api.get(SLOW, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    os.kill(first.process.pid, signal.SIGCONT)

    assert first.wait() == 4
    (said,) = [line for line in first.log.splitlines() if " error " in line]
    assert "another replica is the leader now" in said
    assert await holder(api, namespace) != first_holder
    assert (await api.get(SLOW, namespace, "x"))["status"] == done["status"]
    assert second.runs("Slow", result="succeeded") == 1
