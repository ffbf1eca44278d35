"""The finalizer is on before the first run, and goes only after a finalizer run that succeeded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.kube import NotFoundError
from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.stage import Stage

FOREIGN = "other.example.com/hold"


async def finalizers(shop: Shop) -> list[str]:
    return list((await shop.get())["metadata"].get("finalizers") or [])


async def test_finalizer_is_on_the_object_before_its_first_run(holding_stage: Stage) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FOREIGN])

    await stage.turn()

    assert stage.runner.requests[0].cr["metadata"]["finalizers"] == [FOREIGN, FINALIZER]
    assert not stage.runner.requests[0].is_finalizer
    assert await finalizers(stage.shop) == [FOREIGN, FINALIZER]


async def test_watch_without_finalizer_adds_none(stage: Stage) -> None:
    await stage.shop.create()

    await stage.turn()

    assert await finalizers(stage.shop) == []


async def test_deleted_object_goes_after_its_finalizer_run_succeeded(
    holding_stage: Stage,
) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FINALIZER])
    await stage.shop.delete()

    await stage.turn()

    assert [request.is_finalizer for request in stage.runner.requests] == [True]
    with pytest.raises(NotFoundError):
        await stage.shop.get()
    assert await stage.turn() == Outcome(forget=True)


async def test_failed_finalizer_run_keeps_the_object_and_says_why(holding_stage: Stage) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FINALIZER])
    await stage.shop.delete()
    stage.runner.will(BAD, GOOD)

    outcome = await stage.turn()

    assert outcome.is_error
    assert await finalizers(stage.shop) == [FINALIZER]
    assert (await stage.told("Failure"))[2].startswith("disk full")
    await stage.turn()
    with pytest.raises(NotFoundError):
        await stage.shop.get()


async def test_object_held_by_others_too_stays_with_the_final_word_in_status(
    holding_stage: Stage,
) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FINALIZER, FOREIGN])
    await stage.shop.delete()

    await stage.turn()

    assert await finalizers(stage.shop) == [FOREIGN]
    assert (await stage.told("Successful"))[0] == "True"
    assert await stage.turn() == Outcome()
    assert len(stage.runner.requests) == 1


async def test_deleted_object_that_others_hold_is_left_alone(stage: Stage) -> None:
    await stage.shop.create(finalizers=[FOREIGN])
    await stage.shop.delete()

    assert await stage.turn() == Outcome()

    assert stage.runner.requests == []
    assert "status" not in await stage.shop.get()


async def test_deletion_during_a_run_comes_back_after_five_seconds(holding_stage: Stage) -> None:
    stage = holding_stage
    await stage.shop.create()

    async def deleted_meanwhile(_: RunRequest) -> None:
        await stage.shop.delete()

    stage.runner.will(deleted_meanwhile)
    outcome = await stage.turn()

    assert (outcome.after_s, outcome.is_period) == (5.0, False)
    assert await finalizers(stage.shop) == [FINALIZER]
    await stage.turn()
    assert stage.runner.requests[1].is_finalizer


async def test_finalizer_added_by_another_meanwhile_survives_ours(
    holding_stage: Stage, fake: FakeCluster
) -> None:
    stage = holding_stage
    await stage.shop.create()

    async def somebody_is_faster(verb: str, subresource: str) -> None:
        fake.intruder = None
        await stage.shop.patch({"metadata": {"finalizers": [FOREIGN]}})

    fake.intruder = somebody_is_faster
    await stage.turn()

    assert await finalizers(stage.shop) == [FOREIGN, FINALIZER]


async def test_object_deleted_just_before_we_hold_it_is_let_go_without_a_run(
    holding_stage: Stage, fake: FakeCluster
) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FOREIGN])

    async def somebody_deletes(verb: str, subresource: str) -> None:
        fake.intruder = None
        await stage.shop.delete()

    fake.intruder = somebody_deletes
    outcome = await stage.turn()

    assert outcome == Outcome()
    assert stage.runner.requests == []
    assert await finalizers(stage.shop) == [FOREIGN]


@pytest.mark.parametrize("ours", [FINALIZER, FOREIGN])
async def test_object_deleted_while_it_is_marked_running_never_gets_its_main_play(
    holding_stage: Stage, fake: FakeCluster, ours: str
) -> None:
    stage = holding_stage if ours == FINALIZER else _without_finalizer(holding_stage)
    await stage.shop.create(finalizers=[ours])

    async def somebody_deletes(verb: str, subresource: str) -> None:
        fake.intruder = None
        await stage.shop.delete()

    fake.intruder = somebody_deletes
    await stage.turn()

    assert [request.is_finalizer for request in stage.runner.requests] == [True] * (
        ours == FINALIZER
    )
    if ours == FOREIGN:
        assert (await stage.told("Running"))[:2] == ("False", "Cancelled")


def _without_finalizer(stage: Stage) -> Stage:
    return Stage(stage.shop, replace(stage.watch, finalizer=None), stage.clock)
