"""A deletion that is held up says so, and why."""

from __future__ import annotations

import pytest

from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.runner import Ending, RunResult
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

PAUSE = {PAUSED_ANNOTATION: "true"}
RESUME = {"metadata": {"annotations": {PAUSED_ANNOTATION: None}}}
HELD = "Deletion waits for the finalizer run, which failed: "
WHY = "disk full (task `apply | claim`, roles/app/tasks/main.yml:12"
PAUSED = "Deletion waits: reconciling is paused, and the finalizer runs only when it is resumed"


async def test_failed_finalizer_run_is_reported_as_what_holds_up_the_deletion(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    setting.runner.will(BAD)
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    await setting.turn()
    await setting.turn()

    failure = f"{WHY}, run 2); deletion waits for the finalizer run, which failed"
    assert await setting.reported("Failure") == ("True", "Failed", failure)
    assert await setting.reported("Ready") == ("False", "RunFailed", f"{HELD}{WHY}, run 2)")
    assert setting.events.reported == [("Warning", "DeletionWaits", f"{HELD}{WHY})")] * 2


async def test_finalizer_run_that_could_not_start_says_so_too(holding_setting: Setting) -> None:
    setting = holding_setting
    setting.runner.will(RunResult("", Ending.NOT_STARTED, None, reason_text="no inventory"))
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    await setting.turn()

    message = (await setting.reported("Failure"))[2]
    assert message.startswith("Unable to run reconciliation: no inventory")
    assert message.endswith("; deletion waits for the finalizer run, which failed")


async def test_annotation_that_lets_no_run_start_says_that_the_deletion_waits(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    wrong = {"ansible.sdk.operatorframework.io/reconcile-period": "5x"}
    await setting.shop.create(finalizers=[FINALIZER], annotations=wrong)
    await setting.shop.delete()

    await setting.turn()

    text = 'Unable to parse reconcile period annotation: time: unknown unit "x" in duration "5x"'
    held = "eletion waits for the finalizer run, which cannot start"
    assert await setting.reported("Failure") == ("True", "Failed", f"{text}; d{held}")
    assert await setting.reported("Ready") == ("False", "RunFailed", f"{text}; d{held}")
    assert setting.events.reported == [("Warning", "DeletionWaits", f"D{held}: {text}")]
    assert setting.runner.requests == []


async def test_failed_run_of_an_object_that_stays_says_nothing_of_deletion(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    setting.runner.will(BAD)
    await setting.shop.create()

    await setting.turn()

    assert (await setting.reported("Failure"))[2] == f"{WHY}, run 1)"
    assert setting.events.reasons == ["Failed"]


@pytest.mark.parametrize("manage_status", [True, False])
async def test_deletion_that_waits_for_the_end_of_a_pause_says_so_once(
    shop: Shop, clock: VirtualClock, manage_status: bool
) -> None:
    setting = Setting(shop, watch_of(with_finalizer=True, manage_status=manage_status), clock)
    await setting.shop.create(finalizers=[FINALIZER], annotations=PAUSE)
    await setting.turn()
    await setting.shop.delete()

    await setting.turn()
    await setting.turn()

    assert setting.events.reported[1:] == [("Warning", "DeletionWaits", PAUSED)]
    if manage_status:
        assert await setting.reported("Paused") == ("True", "PausedByAnnotation", PAUSED)
    assert setting.runner.requests == []


async def test_deletion_goes_on_when_it_is_resumed(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER], annotations=PAUSE)
    await setting.shop.delete()
    await setting.turn()
    await setting.shop.patch(RESUME)
    setting.runner.will(GOOD)

    await setting.turn()

    assert (await setting.turn()).forget


async def test_paused_object_that_others_hold_says_nothing_of_our_finalizer(
    setting: Setting,
) -> None:
    await setting.shop.create(finalizers=["other.example.com/hold"], annotations=PAUSE)
    await setting.shop.delete()

    await setting.turn()

    assert setting.events.reasons == ["Paused"]
