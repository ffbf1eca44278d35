"""Shards on real Leases: three replicas, of which one joins, one dies and one leaves."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.election import LEASE
from rolecall.extensions.shards import ShardHolder, ShardPorts, ShardSettings
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials
from rolecall.settings import ElectionSettings
from rolecall.workqueue import Key, part_of
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

COUNT = 16
# A busy machine may take seconds for one renewal.
LEASE_S, RENEW_S, RETRY_S = 6.0, 5.0, 0.5
_KIND = Gvk("demo.example.com", "v1", "Website")


class Sharer:
    """One replica."""

    def __init__(self, name: str, kubeconfig: Path, namespace: str) -> None:
        self.name = name
        self.lost: list[str] = []
        self.client = Client(Credentials.load({"KUBECONFIG": str(kubeconfig)}))
        election = ElectionSettings(
            is_on=True,
            id="app",
            namespace=namespace,
            lease_s=LEASE_S,
            renew_deadline_s=RENEW_S,
            retry_s=RETRY_S,
        )
        self.election = ShardHolder(
            self.client,
            ShardSettings(COUNT, election),
            identity_host=name,
            clock=SystemClock(),
            weight=4,
            ports=ShardPorts(
                on_gained=lambda _: None,
                on_leaving=lambda _: None,
                on_lost=lambda _, why: self.lost.append(why),
                busy=lambda _: False,
                runs_per_minute=lambda: 0.0,
            ),
        )
        self.task = asyncio.ensure_future(self.election.run())

    def has(self) -> set[int]:
        return {shard for shard, key in KEYS.items() if self.election.hand_for(key) is not None}

    async def die(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


def _keys() -> dict[int, Key]:
    keys = (Key(_KIND, "ns", f"site-{number}") for number in range(50 * COUNT))
    return {part_of(key, COUNT): key for key in keys}


KEYS = _keys()
StartSharer = Callable[..., Sharer]


@pytest.fixture
async def start(cluster: Cluster, namespace: str) -> AsyncIterator[StartSharer]:
    sharers: list[Sharer] = []

    def begin(name: str, kubeconfig: Path = cluster.kubeconfig) -> Sharer:
        sharers.append(Sharer(name, kubeconfig, namespace))
        return sharers[-1]

    yield begin
    for sharer in sharers:
        await sharer.die()
        await sharer.client.close()


def shares(*sharers: Sharer) -> list[set[int]]:
    """What each has; none may have what another has."""
    found = [sharer.has() for sharer in sharers]
    assert sum(map(len, found)) == len(set().union(*found)), found
    return found


async def all_held(*sharers: Sharer) -> list[set[int]]:
    return await eventually_async(
        lambda: shares(*sharers),
        lambda found: len(set().union(*found)) == COUNT and all(found),
    )


async def test_shards_go_to_who_comes_and_to_who_stays_when_one_dies_or_leaves(
    start: StartSharer, namespace: str
) -> None:
    first = start("a")
    await all_held(first)
    second, third = start("b"), start("c")
    before = await all_held(first, second, third)
    await second.die()
    after = await eventually_async(
        lambda: shares(first, third), lambda found: len(set().union(*found)) == COUNT
    )
    assert before[0] <= after[0]
    assert before[2] <= after[1]
    await third.election.leave()
    await third.die()
    await third.election.release()
    await all_held(first)
    listed = await first.client.list_all(
        LEASE, namespace, label_selector="rolecall.dev/shards-of=app"
    )
    holders = {
        str(lease["spec"]["holderIdentity"]).partition("_")[0]
        for lease in listed
        if "-shard-" in lease["metadata"]["name"]
    }
    assert holders == {"a"}
    assert not first.lost


@pytest.mark.nightly
async def test_deleted_leases_are_made_again_and_taken(start: StartSharer, namespace: str) -> None:
    only = start("a")
    await all_held(only)
    for lease in await only.client.list_all(LEASE, namespace):
        await only.client.delete(LEASE, namespace, lease["metadata"]["name"])
    await eventually_async(lambda: only.lost)
    await all_held(only)


async def test_missing_right_is_named(
    start: StartSharer,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, "rolecall.extensions.shards")
    verbs = ["get", "create", "update"]
    rule = {"apiGroups": [LEASE.group], "resources": ["leases"], "verbs": verbs}
    only = start("a", service_account_kubeconfig([rule]))
    hints = await eventually_async(
        lambda: {str(vars(record)["fields"]["hint"]) for record in caplog.records},
        lambda hints: len(hints) == 2,
    )
    assert any("resources: [leases], verbs: [list]" in hint for hint in hints)
    assert any("resources: [leases], verbs: [watch]" in hint for hint in hints)
    assert "list leases" in only.election.view().why_not
