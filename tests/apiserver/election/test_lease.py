"""Elections on a real Lease, with a server that also says no, or nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.election import LeaseElection
from rolecall.election.record import LEASE
from rolecall.errors import LeadershipLostError
from rolecall.kube import Client, Credentials
from rolecall.localcluster import Cluster
from rolecall.settings import ElectionSettings
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

LEASE_S, RENEW_S, RETRY_S = 3.0, 2.0, 0.3


class Candidate:
    """One replica."""

    def __init__(self, name: str, kubeconfig: Path, namespace: str) -> None:
        self.told: list[bool] = []
        self.client = Client(Credentials.load({"KUBECONFIG": str(kubeconfig)}))
        settings = ElectionSettings(
            is_on=True,
            id="app",
            namespace=namespace,
            lease_s=LEASE_S,
            renew_deadline_s=RENEW_S,
            retry_s=RETRY_S,
        )
        self.election = LeaseElection(
            self.client,
            settings,
            identity=name,
            clock=SystemClock(),
            on_change=self.told.append,
        )
        self.task = asyncio.ensure_future(self.election.run())

    async def comes_to_lead(self) -> None:
        await eventually_async(self.election.may_write, timeout_s=60)

    async def end(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LeadershipLostError):
            await self.task


StartCandidate = Callable[..., Candidate]


@pytest.fixture
async def start(cluster: Cluster, namespace: str) -> AsyncIterator[StartCandidate]:
    candidates: list[Candidate] = []

    def begin(
        name: str, kubeconfig: Path = cluster.kubeconfig, namespace: str = namespace
    ) -> Candidate:
        candidates.append(Candidate(name, kubeconfig, namespace))
        return candidates[-1]

    yield begin
    for candidate in candidates:
        await candidate.end()
        await candidate.client.close()


async def test_lease_reads_like_that_of_every_component(
    start: StartCandidate, namespace: str
) -> None:
    first = start("a")
    await first.comes_to_lead()
    lease = await first.client.get(LEASE, namespace, "app")
    assert lease["spec"]["holderIdentity"] == "a"
    assert lease["spec"]["leaseDurationSeconds"] == 3
    assert lease["spec"]["leaseTransitions"] == 0
    renewed = lease["spec"]["renewTime"]
    await eventually_async(
        lambda: first.client.get(LEASE, namespace, "app"),
        lambda lease: lease["spec"]["renewTime"] > renewed,
    )


async def test_released_lease_passes_on_and_never_two_lead(start: StartCandidate) -> None:
    first = start("a")
    await first.comes_to_lead()
    second = start("b")
    first.task.cancel()
    assert not second.election.may_write()
    await first.election.release()
    assert not first.election.may_write()
    await second.comes_to_lead()


async def test_lease_that_another_took_ends_the_leader(
    start: StartCandidate, namespace: str
) -> None:
    first = start("a")
    await first.comes_to_lead()
    await first.client.merge_patch(LEASE, namespace, "app", {"spec": {"holderIdentity": "b"}})
    with pytest.raises(LeadershipLostError, match=f"`b` holds the Lease `{namespace}/app`"):
        await first.task
    assert not first.election.may_write()
    assert first.told == [True, False]


async def test_lease_that_may_not_be_written_is_named_and_tried_again(
    start: StartCandidate,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, "rolecall.election")
    only_read = {"apiGroups": [LEASE.group], "resources": ["leases"], "verbs": ["get"]}
    start("a", service_account_kubeconfig([only_read]))
    record = await eventually_async(lambda: caplog.records[0])
    assert record.getMessage() == "not allowed to lead"
    assert "`create` on `leases.coordination.k8s.io`" in vars(record)["hint"]


async def test_leader_pauses_while_the_api_server_is_silent_and_then_goes_on(
    own_cluster: Cluster,
) -> None:
    leader = Candidate("a", own_cluster.kubeconfig, "default")
    try:
        await leader.comes_to_lead()
        with own_cluster.apiserver.frozen():
            await eventually_async(lambda: leader.told == [True, False])
            assert not leader.election.may_write()
        await eventually_async(lambda: leader.told == [True, False, True])
        assert leader.election.may_write()
        assert not leader.task.done()
    finally:
        await leader.end()
        await leader.client.close()
