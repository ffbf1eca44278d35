"""Elections on a real Lease, with a server that also says no, or nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp.client import _RequestContextManager
from multidict import CIMultiDictProxy
from yarl import URL

from rolecall.clock import SystemClock
from rolecall.election import FencedClient, LeaseElection
from rolecall.election.record import LEASE, taken
from rolecall.errors import LeadershipLostError
from rolecall.gvk import Gvk
from rolecall.kube import Client, ConflictError, Credentials
from rolecall.proxy import Proxy
from rolecall.settings import ElectionSettings, ProxySettings
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async
from tests.unit.election.work import idle_work

# A busy machine may take seconds for one renewal.
LEASE_S, RENEW_S, RETRY_S = 6.0, 5.0, 0.3


class Candidate:
    """One replica."""

    def __init__(self, name: str, kubeconfig: Path, namespace: str) -> None:
        self.reported: list[bool] = []
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
            on_change=self.reported.append,
        )
        self.task = asyncio.ensure_future(self.election.run(idle_work(SystemClock())))

    async def comes_to_lead(self) -> None:
        await eventually_async(self.election.may_write)

    async def end(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LeadershipLostError):
            await self.task


StartCandidate = Callable[..., Candidate]


@dataclass
class RunningPlay:
    """Creates one ConfigMap after the other, through a proxy of its own."""

    session: aiohttp.ClientSession
    url: URL
    maps: str
    written: list[str] = field(default_factory=list)
    refused: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    headers: list[CIMultiDictProxy[str]] = field(default_factory=list)

    def request(self, method: str, path: str, **more: Any) -> _RequestContextManager:
        return self.session.request(method, self.url.join(URL(path)), **more)

    async def run(self) -> None:
        for number in count():
            name = f"made-{number:05}"
            async with self.request("POST", self.maps, json=named(name)) as response:
                said = await response.json()
                if response.status == 201:
                    self.written.append(name)
                else:
                    self.refused.append((response.status, said))
                    self.headers.append(response.headers)
            await asyncio.sleep(0.01)  # a play is no busy loop


def named(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


class NoFollower:
    """Follows no dependents."""

    def note(self, *_: Any, **__: Any) -> None:
        """Ignore it."""

    def note_asked(self, *_: Any) -> None:
        """A run asked for an object."""

    def note_own_write(self, *_: Any) -> None:
        """Nothing."""


@contextlib.asynccontextmanager
async def running_play(client: Client, namespace: str) -> AsyncIterator[RunningPlay]:
    kind = Gvk("", "v1", "ConfigMap")
    made = await client.create(kind, {"metadata": {"name": "owner", "namespace": namespace}})
    watch = Watch(gvk=kind, play=Play(Path("role"), is_role=True))
    proxy = Proxy(ProxySettings(port=0), client, dependents=NoFollower())
    await proxy.start()
    try:
        async with (
            proxy.issue_access("run-1", {**named("owner"), **made}, watch) as access,
            aiohttp.ClientSession() as session,
        ):
            config = yaml.safe_load(access.kubeconfig.read_text())
            url = URL(config["clusters"][0]["cluster"]["server"]).with_host("127.0.0.1")
            play = RunningPlay(session, url, f"/api/v1/namespaces/{namespace}/configmaps")
            running = asyncio.create_task(play.run())
            try:
                yield play
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
    finally:
        await proxy.stop()


async def names_of_maps(client: Client, namespace: str) -> list[str]:
    listed = await client.list_all(Gvk("", "v1", "ConfigMap"), namespace)
    names = sorted(str(item["metadata"]["name"]) for item in listed)
    return [name for name in names if name.startswith("made-")]


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


@pytest.mark.fast
async def test_lease_reads_like_that_of_every_component(
    start: StartCandidate, namespace: str
) -> None:
    first = start("a")
    await first.comes_to_lead()
    lease = await first.client.get(LEASE, namespace, "app")
    assert lease["spec"]["holderIdentity"] == "a"
    assert lease["spec"]["leaseDurationSeconds"] == LEASE_S
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
    assert first.reported == [True, False]


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
    assert "resources: [leases], verbs: [create]" in vars(record)["fields"]["hint"]


@pytest.mark.nightly
async def test_leader_pauses_while_the_api_server_is_silent_and_then_goes_on(
    own_cluster: Cluster,
) -> None:
    leader = Candidate("a", own_cluster.kubeconfig, "default")
    try:
        await leader.comes_to_lead()
        with own_cluster.apiserver.frozen():
            await eventually_async(lambda: leader.reported == [True, False])
            assert not leader.election.may_write()
        await eventually_async(lambda: leader.reported == [True, False, True])
        assert leader.election.may_write()
        assert not leader.task.done()
    finally:
        await leader.end()
        await leader.client.close()


async def test_play_writes_nothing_after_its_leader_lost_the_lease(
    start: StartCandidate, cluster: Cluster, namespace: str
) -> None:
    leader = start("a")
    await leader.comes_to_lead()
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with (
        FencedClient(credentials, leader.election.may_write) as fenced,
        running_play(fenced, namespace) as play,
    ):
        await eventually_async(lambda: len(play.written) > 5)

        async def take() -> object:
            lease = await leader.client.get(LEASE, namespace, "app")
            now = SystemClock().now()
            return await leader.client.replace(LEASE, taken(lease, "b", LEASE_S, now))

        # The leader may renew it in between.
        await eventually_async(take, ignoring=(ConflictError,))
        await eventually_async(lambda: len(play.refused) > 5)
        assert not leader.election.may_write()
        there = await names_of_maps(leader.client, namespace)
        assert there == sorted(play.written)
        refused_before = len(play.refused)
        await eventually_async(lambda: len(play.refused) > refused_before + 5)
        assert await names_of_maps(leader.client, namespace) == there

        code, status = play.refused[-1]
        assert (code, status["reason"]) == (503, "ServiceUnavailable")
        assert "no longer leads" in status["message"]
        assert all("Retry-After" not in headers for headers in play.headers)
        async with play.request("GET", f"{play.maps}/{there[0]}") as response:
            assert response.status == 200
    with pytest.raises(LeadershipLostError, match="`b` holds the Lease"):
        await leader.task
