"""Streams, queue and turns on a real API server: what an edit costs, and that none is missed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.runner import RunRequest
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reconcile.crds import STORY
from tests.apiserver.reconcile.whole_loop import Loop, whole_loop


@pytest.fixture
async def loop(client: Client, cluster: Cluster, namespace: str) -> AsyncIterator[Loop]:
    async with whole_loop(cluster, namespace, client) as loop:
        yield loop


async def test_create_and_edit_cost_two_writes_and_no_read(loop: Loop) -> None:
    await loop.shop.create()
    assert await loop.until_done() == ["patch", "patch"]
    await loop.shop.patch({"spec": {"size": 2}})
    assert await loop.until_done() == ["patch", "patch"]
    [first, second] = [request.cr for request in loop.setting.runner.requests]
    assert [first["spec"], second["spec"]] == [{"size": 1}, {"size": 2}]
    assert second["kind"] == STORY.kind


async def test_each_run_sees_what_was_there_when_it_was_marked_running(loop: Loop) -> None:
    seen: list[Json] = []

    async def looks(request: RunRequest) -> None:
        seen.append(request.cr)

    loop.setting.runner.will(looks)
    await loop.shop.create()
    for size in range(2, 12):
        await loop.shop.patch({"spec": {"size": size}})
        await loop.shop.patch({"metadata": {"labels": {"size": str(size)}}})
        if size % 3 == 0:
            await loop.until_done()
    await loop.until_done()
    generations = [cr["metadata"]["generation"] for cr in seen]
    assert generations == sorted(generations)
    assert seen[-1]["spec"] == {"size": 11}


async def test_object_that_is_deleted_and_made_again_has_a_run_of_its_own(loop: Loop) -> None:
    await loop.shop.create()
    await loop.until_done()
    for _ in range(3):
        await loop.shop.delete()
        fresh = await loop.shop.create()
        await loop.until_done()
        last = loop.setting.runner.requests[-1].cr
        assert last["metadata"]["uid"] == fresh["metadata"]["uid"]
