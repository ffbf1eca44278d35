"""Which turns of a CR's life deserve an Event."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.kube import Target, UnprocessableError
from rolecall.runner import Ending, RunResult
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.stage import Stage
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock


@pytest.mark.parametrize("manage_status", [True, False])
async def test_first_success_failures_and_recovery_are_told(
    shop: Shop, clock: VirtualClock, manage_status: bool
) -> None:
    stage = Stage(shop, watch_of(manage_status=manage_status), clock)
    await shop.create()
    stage.runner.will(GOOD, GOOD, BAD, BAD, GOOD, GOOD)
    for _ in range(6):
        await stage.turn()

    assert stage.events.reasons == ["Succeeded", "Failed", "Failed", "Recovered"]


async def test_success_after_nothing_but_failures_is_a_recovery(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(BAD, GOOD)
    for _ in range(2):
        await stage.turn()

    assert stage.events.reasons == ["Failed", "Recovered"]


async def test_restarted_engine_does_not_tell_the_first_success_again(stage: Stage) -> None:
    await stage.shop.create()
    await stage.turn()

    restarted = Stage(stage.shop, stage.watch, stage.clock)
    await restarted.turn()

    assert restarted.events.reasons == []


async def test_same_failure_is_told_in_the_same_words_each_time(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(BAD)
    for _ in range(3):
        await stage.turn()

    words = {message for _, _, message in stage.events.told}
    assert words == {"disk full (task `apply | claim`, roles/app/tasks/main.yml:12)"}


@pytest.mark.parametrize("ending", [Ending.TIMED_OUT, Ending.NO_PROGRESS])
async def test_time_limits_have_a_reason_of_their_own(stage: Stage, ending: Ending) -> None:
    await stage.shop.create()
    stage.runner.will(RunResult("", ending, None, reason_text="too long"))

    await stage.turn()

    assert stage.events.told == [("Warning", "TimedOut", "too long")]


async def test_missing_status_subresource_is_told_with_the_way_out(clock: VirtualClock) -> None:
    stage = Stage(Shop(FakeCluster(has_status=False), APP, "default"), watch_of(), clock)
    await stage.shop.create()

    outcome = await stage.turn()

    assert stage.runner.requests == []
    assert "no status subresource" in outcome.error
    kind, reason, message = stage.events.told[0]
    assert (kind, reason) == ("Warning", "StatusNotWritten")
    assert "manageStatus: false" in message


async def test_status_that_the_schema_refuses_is_told(stage: Stage, fake: FakeCluster) -> None:
    await stage.shop.create()

    async def strict(verb: str, subresource: str) -> None:
        raise UnprocessableError("status.conditions[0].reason: too short", target=Target("patch"))

    fake.intruder = strict
    outcome = await stage.turn()

    assert outcome.is_error
    assert stage.events.told[0][1:] == (
        "StatusNotWritten",
        "status.conditions[0].reason: too short",
    )


async def test_bug_in_a_turn_is_confessed_in_status(stage: Stage) -> None:
    await stage.shop.create()

    await stage.reconciler.confess(stage.key())

    assert "internal error" in (await stage.told("Failure"))[2]
    assert stage.events.reasons == ["Failed"]


async def test_message_of_a_failed_item_is_added_to_that_of_the_loop(stage: Stage) -> None:
    failure = replace(BAD.failures[0], message="One or more items failed", detail="quota\nexceeded")
    await stage.shop.create()
    stage.runner.will(replace(BAD, failures=(failure,)))

    await stage.turn()

    message = (await stage.told("Failure"))[2]
    assert message.startswith("One or more items failed: quota exceeded (task `apply | claim`")
