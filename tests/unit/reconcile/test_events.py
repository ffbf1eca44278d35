"""Which turns of a CR's life deserve an Event."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.kube import Target, UnprocessableError
from rolecall.runner import Ending, RunResult
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock


@pytest.mark.parametrize("manage_status", [True, False])
async def test_first_success_failures_and_recovery_are_reported(
    shop: Shop, clock: VirtualClock, manage_status: bool
) -> None:
    setting = Setting(shop, watch_of(manage_status=manage_status), clock)
    await shop.create()
    setting.runner.will(GOOD, GOOD, BAD, BAD, GOOD, GOOD)
    for _ in range(6):
        await setting.turn()

    assert setting.events.reasons == ["Succeeded", "Failed", "Failed", "Recovered"]


async def test_success_after_nothing_but_failures_is_a_recovery(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(BAD, GOOD)
    for _ in range(2):
        await setting.turn()

    assert setting.events.reasons == ["Failed", "Recovered"]


async def test_restarted_engine_does_not_report_the_first_success_again(setting: Setting) -> None:
    await setting.shop.create()
    await setting.turn()

    restarted = Setting(setting.shop, setting.watch, setting.clock)
    await restarted.turn()

    assert restarted.events.reasons == []


async def test_same_failure_is_reported_in_the_same_words_each_time(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)
    for _ in range(3):
        await setting.turn()

    words = {message for _, _, message in setting.events.reported}
    assert words == {"disk full (task `apply | claim`, roles/app/tasks/main.yml:12)"}


@pytest.mark.parametrize("ending", [Ending.TIMED_OUT, Ending.NO_PROGRESS])
async def test_time_limits_have_a_reason_of_their_own(setting: Setting, ending: Ending) -> None:
    await setting.shop.create()
    setting.runner.will(RunResult("", ending, None, reason_text="too long"))

    await setting.turn()

    assert setting.events.reported == [("Warning", "TimedOut", "too long")]


async def test_missing_status_subresource_is_reported_with_the_way_out(clock: VirtualClock) -> None:
    setting = Setting(Shop(FakeCluster(has_status=False), APP, "default"), watch_of(), clock)
    await setting.shop.create()

    outcome = await setting.turn()

    assert setting.runner.requests == []
    assert "no status subresource" in outcome.error
    kind, reason, message = setting.events.reported[0]
    assert (kind, reason) == ("Warning", "StatusNotWritten")
    assert "manageStatus: false" in message


async def test_status_that_the_schema_refuses_is_reported(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()

    async def strict(verb: str, subresource: str) -> None:
        raise UnprocessableError(
            "status.ansible_conditions[0].reason: too short", target=Target("patch")
        )

    fake.intruder = strict
    outcome = await setting.turn()

    assert outcome.is_error
    assert setting.events.reported[0][1:] == (
        "StatusNotWritten",
        "status.ansible_conditions[0].reason: too short",
    )


async def test_bug_in_a_turn_is_reported_in_status(setting: Setting) -> None:
    await setting.shop.create()

    await setting.reconciler.report_bug(setting.key())

    assert "internal error" in (await setting.reported("Failure"))[2]
    assert setting.events.reasons == ["Failed"]


async def test_message_of_a_failed_item_is_added_to_that_of_the_loop(setting: Setting) -> None:
    failure = replace(BAD.failures[0], message="One or more items failed", detail="quota\nexceeded")
    await setting.shop.create()
    setting.runner.will(replace(BAD, failures=(failure,)))

    await setting.turn()

    message = (await setting.reported("Failure"))[2]
    assert message.startswith("One or more items failed: quota exceeded (task `apply | claim`")
