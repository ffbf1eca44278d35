"""What controllers do to a run's new objects brings the CR back once, and holds up no edit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.runner import RunRequest
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reconcile.whole_loop import Loop, whole_loop
from tests.fixtures.eventually import eventually_async
from tests.unit.reconcile.scripted import GOOD

CONFIG_MAP = Gvk("", "v1", "ConfigMap")
# Long enough for a busy machine to write five times meanwhile.
DELAY_S = 3.0
DRIFT = "drift of ConfigMap made"


@pytest.fixture
async def loop(client: Client, cluster: Cluster, namespace: str) -> AsyncIterator[Loop]:
    async with whole_loop(cluster, namespace, client, dependents_delay_s=DELAY_S) as loop:
        yield loop


@pytest.fixture
async def made(loop: Loop, client: Client) -> AsyncIterator[Any]:
    """A run made a ConfigMap, which is followed; awaiting it changes it as a stranger does."""
    loop.dependents.note(
        loop.shop.gvk, CONFIG_MAP, by_annotation=False, namespace=loop.shop.namespace
    )
    await eventually_async(lambda: loop.dependents.is_watched(CONFIG_MAP, loop.shop.namespace))
    numbers = count()

    async def make(request: RunRequest) -> None:
        cr = request.cr
        owner = {"apiVersion": cr["apiVersion"], "kind": cr["kind"], "controller": True}
        owner |= {key: cr["metadata"][key] for key in ("name", "uid")}
        metadata = {"name": "made", "namespace": loop.shop.namespace, "ownerReferences": [owner]}
        await client.create(CONFIG_MAP, {"metadata": metadata})

    async def change() -> None:
        data = {"data": {"number": str(next(numbers))}}
        await client.merge_patch(CONFIG_MAP, loop.shop.namespace, "made", data)

    loop.setting.runner.will(make, GOOD)
    await loop.shop.create()
    await loop.until_done()
    yield change


async def test_changes_in_the_moments_after_a_run_bring_one_run(loop: Loop, made: Any) -> None:
    for _ in range(5):
        await made()
    await eventually_async(lambda: loop.causes, lambda seen: seen == ["creation", DRIFT])
    await made()  # of the time after that run: the next one, so what came before brought one
    await eventually_async(lambda: loop.causes, lambda seen: seen == ["creation", DRIFT, DRIFT])


async def test_edit_of_the_cr_does_not_wait_for_what_its_dependents_wait_for(
    loop: Loop, made: Any
) -> None:
    await made()
    await loop.shop.patch({"spec": {"size": 2}})
    await loop.until_done()
    assert loop.causes == ["creation", "edit of generation 2"]
