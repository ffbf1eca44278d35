"""The finalizer is on before the first run, and goes only after a finalizer run that succeeded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.kube import NotFoundError, Target, WebhookDownError
from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest, RunResult
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import Setting

FOREIGN = "other.example.com/hold"


async def finalizers(shop: Shop) -> list[str]:
    return list((await shop.get())["metadata"].get("finalizers") or [])


async def test_finalizer_is_on_the_object_before_its_first_run(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FOREIGN])

    await setting.turn()

    assert setting.runner.requests[0].cr["metadata"]["finalizers"] == [FOREIGN, FINALIZER]
    assert not setting.runner.requests[0].is_finalizer
    assert await finalizers(setting.shop) == [FOREIGN, FINALIZER]


async def test_watch_without_finalizer_adds_none(setting: Setting) -> None:
    await setting.shop.create()

    await setting.turn()

    assert await finalizers(setting.shop) == []


async def test_deleted_object_goes_after_its_finalizer_run_succeeded(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    await setting.turn()

    assert [request.is_finalizer for request in setting.runner.requests] == [True]
    with pytest.raises(NotFoundError):
        await setting.shop.get()
    assert await setting.turn() == Outcome(forget=True)


async def test_failed_finalizer_run_keeps_the_object_and_says_why(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()
    setting.runner.will(BAD, GOOD)

    outcome = await setting.turn()

    assert outcome.is_error
    assert await finalizers(setting.shop) == [FINALIZER]
    assert (await setting.reported("Failure"))[2].startswith("disk full")
    await setting.turn()
    with pytest.raises(NotFoundError):
        await setting.shop.get()


async def test_object_held_by_others_too_stays_with_the_final_word_in_status(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER, FOREIGN])
    await setting.shop.delete()

    await setting.turn()

    assert await finalizers(setting.shop) == [FOREIGN]
    assert (await setting.reported("Successful"))[0] == "True"
    assert await setting.turn() == Outcome()
    assert len(setting.runner.requests) == 1


async def test_deleted_object_that_others_hold_is_left_alone(setting: Setting) -> None:
    await setting.shop.create(finalizers=[FOREIGN])
    await setting.shop.delete()

    assert await setting.turn() == Outcome()

    assert setting.runner.requests == []
    assert "status" not in await setting.shop.get()


async def test_deletion_during_a_run_comes_back_after_five_seconds(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    await setting.shop.create()

    async def deleted_meanwhile(_: RunRequest) -> None:
        await setting.shop.delete()

    setting.runner.will(deleted_meanwhile)
    outcome = await setting.turn()

    assert (outcome.after_s, outcome.is_period) == (5.0, False)
    assert await finalizers(setting.shop) == [FINALIZER]
    await setting.turn()
    assert setting.runner.requests[1].is_finalizer


async def test_finalizer_added_by_another_meanwhile_survives_ours(
    holding_setting: Setting, fake: FakeCluster
) -> None:
    setting = holding_setting
    await setting.shop.create()

    async def a_client_is_faster(verb: str, subresource: str) -> None:
        fake.intruder = None
        await setting.shop.patch({"metadata": {"finalizers": [FOREIGN]}})

    fake.intruder = a_client_is_faster
    await setting.turn()

    assert await finalizers(setting.shop) == [FOREIGN, FINALIZER]


async def test_object_deleted_just_before_we_hold_it_is_let_go_without_a_run(
    holding_setting: Setting, fake: FakeCluster
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FOREIGN])

    async def a_client_deletes(verb: str, subresource: str) -> None:
        fake.intruder = None
        await setting.shop.delete()

    fake.intruder = a_client_deletes
    outcome = await setting.turn()

    assert outcome == Outcome()
    assert setting.runner.requests == []
    assert await finalizers(setting.shop) == [FOREIGN]


@pytest.mark.parametrize("ours", [FINALIZER, FOREIGN])
async def test_object_deleted_while_it_is_marked_running_never_gets_its_main_play(
    holding_setting: Setting, fake: FakeCluster, ours: str
) -> None:
    setting = holding_setting if ours == FINALIZER else _without_finalizer(holding_setting)
    await setting.shop.create(finalizers=[ours])

    async def a_client_deletes(verb: str, subresource: str) -> None:
        fake.intruder = None
        await setting.shop.delete()

    fake.intruder = a_client_deletes
    await setting.turn()

    assert [request.is_finalizer for request in setting.runner.requests] == [True] * (
        ours == FINALIZER
    )
    if ours == FOREIGN:
        assert (await setting.reported("Running"))[:2] == ("False", "Cancelled")


def _without_finalizer(setting: Setting) -> Setting:
    return Setting(setting.shop, replace(setting.watch, finalizer=None), setting.clock)


async def test_object_that_went_while_its_finalizer_was_taken_off_is_gone(
    holding_setting: Setting, fake: FakeCluster
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    async def another_client_was_faster(request: RunRequest) -> RunResult:
        fake.objects.clear()
        return GOOD

    setting.runner.will(another_client_was_faster)
    await setting.turn()

    assert (await setting.turn()).forget


async def test_webhook_that_rejects_our_finalizer_is_reported(
    holding_setting: Setting, fake: FakeCluster
) -> None:
    setting = holding_setting
    await setting.shop.create()

    async def down(verb: str, subresource: str) -> None:
        raise WebhookDownError("failed calling webhook `guard`", target=Target("patch"))

    fake.intruder = down
    outcome = await setting.turn()

    assert outcome.is_error
    assert setting.runner.requests == []
    kind, reason, message = setting.events.reported[0]
    assert (kind, reason) == ("Warning", "FinalizerNotWritten")
    assert "`guard`" in message
