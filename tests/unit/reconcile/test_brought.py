"""A turn that begins with the object that its event brought: no read where nothing changed since,
and none of its decisions from an object that did."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.watches import Watch
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

PAUSED = {"metadata": {"annotations": {"rolecall.dev/paused": "true"}}}


async def brought(setting: Setting) -> None:
    """The stream brings the CR as it is now."""
    setting.brought[setting.key()] = await setting.shop.get()


async def calls_of_turn(setting: Setting, fake: FakeCluster) -> list[str]:
    fake.calls.clear()
    await setting.turn()
    return list(fake.calls)


async def test_turn_that_begins_with_what_was_brought_writes_twice_and_reads_never(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()
    await brought(setting)

    assert await calls_of_turn(setting, fake) == ["patch status", "patch status"]

    [request] = setting.runner.requests
    assert "Running" in [each["type"] for each in request.cr["status"]["conditions"]]
    assert (await setting.reported("Successful"))[0] == "True"


async def test_play_of_an_object_that_was_edited_since_sees_the_edit(setting: Setting) -> None:
    await setting.shop.create()
    await brought(setting)
    await setting.shop.patch({"spec": {"size": 7}})

    await setting.turn()

    [request] = setting.runner.requests
    assert request.cr["spec"] == {"size": 7}
    assert (await setting.shop.get())["status"]["observedGeneration"] == 2


async def test_object_older_than_what_the_last_run_wrote_loses_none_of_it(setting: Setting) -> None:
    await setting.shop.create()
    old = await setting.shop.get()
    await setting.turn()
    await setting.shop.patch({"status": {"url": "http://x"}}, subresource="status")
    setting.brought[setting.key()] = old

    await setting.turn()

    assert setting.runner.requests[-1].cr["status"]["url"] == "http://x"
    assert (await setting.reported("Successful"))[0] == "True"


async def test_object_that_was_replaced_since_is_not_run_for(setting: Setting) -> None:
    await setting.shop.create()
    await brought(setting)
    await setting.shop.delete()
    await setting.shop.create()

    outcome = await setting.turn()

    assert (outcome.is_put_off, outcome.after_s, outcome.urgency) == (True, 0.0, Urgency.EDIT)
    assert setting.runner.requests == []
    await setting.turn()
    assert len(setting.runner.requests) == 1


async def test_object_that_is_gone_is_forgotten_by_the_next_turn(setting: Setting) -> None:
    await setting.shop.create()
    await brought(setting)
    await setting.shop.delete()

    assert (await setting.turn()).is_put_off
    assert (await setting.turn()).forget
    assert setting.runner.requests == []


@pytest.mark.parametrize("news", [PAUSED, {"deleted": True}], ids=["paused", "deleted"])
async def test_pause_or_deletion_that_came_since_stops_the_run(
    holding_setting: Setting, news: dict[str, Any]
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await brought(setting)
    if "deleted" in news:
        await setting.shop.delete()
    else:
        await setting.shop.patch(news)

    await setting.turn()

    assert [request for request in setting.runner.requests if not request.is_finalizer] == []


async def test_status_that_says_running_already_proves_nothing_so_the_object_is_read(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()
    during = {}

    async def user_looks(_: Any) -> None:
        during.update((await setting.shop.get())["status"])

    setting.runner.will(user_looks)
    await setting.turn()
    await setting.shop.patch({"status": during}, subresource="status")
    await brought(setting)
    await setting.shop.patch({"metadata": {"labels": {"a": "b"}}})
    setting.runner.requests.clear()

    calls = await calls_of_turn(setting, fake)

    assert calls[0] == "get"
    assert setting.runner.requests[-1].cr["metadata"]["labels"] == {"a": "b"}


async def test_edit_that_came_during_a_run_is_read_after_it(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()

    async def user_edits(_: Any) -> None:
        await setting.shop.patch({"spec": {"size": 2}})
        await brought(setting)

    setting.runner.will(user_edits)
    await setting.turn()

    assert setting.brought == {}
    assert (await calls_of_turn(setting, fake))[0] == "get"


def without_status() -> Watch:
    return watch_of(manage_status=False)


async def test_turn_without_status_reads_what_was_brought(
    shop: Shop, clock: VirtualClock, fake: FakeCluster
) -> None:
    setting = Setting(shop, without_status(), clock)
    await shop.create()
    await brought(setting)

    assert (await calls_of_turn(setting, fake))[0] == "get"
