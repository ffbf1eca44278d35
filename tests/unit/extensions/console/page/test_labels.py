"""Labels are read every few seconds at most, for all readers, and kept no longer than that takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from tests.unit.extensions.console.control.engine import key
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster
from tests.unit.runner_warm.fakes import SteppedClock

from rolecall.extensions.console.page import labels
from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.extensions.console.page.labels import Candidates, LabelReads
from rolecall.kube import ForbiddenError, Page

KEYS = [key("a"), key("b"), key("a", "bank")]


class Counted(FakeClient):
    """Counts its lists, each of which takes a while."""

    def __init__(self, cluster: FakeCluster, clock: SteppedClock, token: str = "") -> None:
        super().__init__(cluster, token)
        self.lists, self.takes_s, self._clock = list[str](), 0.0, clock

    async def pages(self, *where: Any, **more: Any) -> AsyncIterator[Page]:
        self.lists.append(where[1])
        self._clock.step(self.takes_s)
        await asyncio.sleep(0)
        async for page in super().pages(*where, **more):
            yield page


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def cluster() -> FakeCluster:
    cluster = FakeCluster()
    for each in KEYS:
        metadata = {"name": each.name, "namespace": each.namespace, "labels": {"app": "web"}}
        cluster.objects["Website", each.namespace, each.name] = {"metadata": metadata}
    return cluster


def label(cluster: FakeCluster, value: str) -> None:
    cluster.objects["Website", "shop", "a"]["metadata"]["labels"] = {"app": value}


async def read(reads: LabelReads, client: FakeClient, count: int = 3) -> list[str]:
    reader = cast(ReaderClient, client)
    values = await reads.labelled(Candidates.of(KEYS[:count]), "app", reader, "app")
    return [values[each] for each in KEYS[:count]]


async def test_label_that_changed_is_seen_after_some_seconds(
    clock: SteppedClock, cluster: FakeCluster
) -> None:
    reads, client = LabelReads(clock), Counted(cluster, clock)
    assert await read(reads, client) == ["web", "web", "web"]
    label(cluster, "db")
    clock.step(1)
    assert await read(reads, client) == ["web", "web", "web"]
    clock.step(5)
    assert await read(reads, client) == ["db", "web", "web"]
    assert len(client.lists) == 2


async def test_fifty_readers_who_may_list_the_same_need_one_list(
    clock: SteppedClock, cluster: FakeCluster
) -> None:
    reads = LabelReads(clock)
    clients = [Counted(cluster, clock) for _ in range(50)]
    found = await asyncio.gather(*(read(reads, each) for each in clients))
    assert all(each == ["web"] * 3 for each in found)
    assert sum(len(each.lists) for each in clients) == 1


async def test_reader_who_may_list_less_has_a_list_of_his_own(
    clock: SteppedClock, cluster: FakeCluster
) -> None:
    reads = LabelReads(clock)
    cluster.knows("bert", ("list", "websites", "shop"))
    await read(reads, Counted(cluster, clock))
    bert = Counted(cluster, clock, "token-of-bert")
    assert await read(reads, bert, 2) == ["web", "web"]
    assert bert.lists == ["shop"]


async def test_list_that_takes_long_is_made_less_often_but_each_minute(
    clock: SteppedClock, cluster: FakeCluster
) -> None:
    reads, client = LabelReads(clock), Counted(cluster, clock)
    for takes_s, rests_s in ((1.0, 20.0), (10.0, 60.0)):
        client.takes_s = takes_s
        client.lists.clear()
        await read(reads, client)
        clock.step(rests_s - 1)
        await read(reads, client)
        assert len(client.lists) == 1
        clock.step(2)


async def test_what_the_cluster_refused_is_asked_for_again(
    clock: SteppedClock, cluster: FakeCluster
) -> None:
    reads = LabelReads(clock)
    cluster.knows("carl")
    with pytest.raises(ForbiddenError):
        await read(reads, Counted(cluster, clock, "token-of-carl"))
    assert await read(reads, Counted(cluster, clock)) == ["web"] * 3


async def test_little_is_kept_and_not_for_long(
    clock: SteppedClock, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "_KEPT_S", 0.05)
    reads, client = LabelReads(clock), cast(ReaderClient, Counted(cluster, clock))
    for number in range(9):
        await reads.labelled(Candidates.of(KEYS), f"label-{number}", client)
    assert len(reads._kept) == 4
    await asyncio.sleep(0.2)
    assert len(reads._kept) == 0
