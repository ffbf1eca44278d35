"""Objects that people paused, and objects whose role never comes to rest."""

from __future__ import annotations

from dataclasses import replace

from rolecall.reconcile import PAUSED_ANNOTATION, PAUSED_BECAUSE, PAUSED_BY, PAUSED_SINCE
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

PAUSE = {PAUSED_ANNOTATION: "true"}
TASK = "roles/app/tasks/main.yml:12: apply | claim"
UNSETTLED = replace(GOOD, changed_tasks=(TASK,))


async def resume(setting: Setting) -> None:
    await setting.shop.patch({"metadata": {"annotations": {PAUSED_ANNOTATION: None}}})


async def test_paused_object_says_so_and_nothing_runs(setting: Setting) -> None:
    await setting.shop.create(annotations=PAUSE)

    outcome = await setting.turn()

    assert (outcome.after_s, outcome.is_period) == (36000.0, True)
    assert (await setting.reported("Paused"))[:2] == ("True", "PausedByAnnotation")
    assert await setting.condition("Running") is None
    assert setting.runner.requests == []
    assert setting.events.reasons == ["Paused"]


async def test_event_of_a_pause_reports_who_and_why_on_one_bounded_line(setting: Setting) -> None:
    because = "moving house\n" + "x" * 500
    await setting.shop.create(annotations={**PAUSE, PAUSED_BY: "ann", PAUSED_BECAUSE: because})

    await setting.turn()

    ((_, reason, message),) = setting.events.reported
    assert reason == "Paused"
    assert message.startswith("Paused by ann (moving house x")
    assert message.endswith("…: nothing will run for it")
    assert len(message) < 300


async def test_condition_of_a_pause_has_person_time_and_reason(setting: Setting) -> None:
    since = "2026-11-28T10:00:00Z"
    said = {PAUSED_BY: "ann", PAUSED_SINCE: since, PAUSED_BECAUSE: "moving"}
    await setting.shop.create(annotations={**PAUSE, **said})

    await setting.turn()

    assert (await setting.reported("Paused"))[2] == (
        f"Paused by ann (moving) since {since}:"
        " nothing runs for this object, not even its finalizer"
    )


async def test_second_look_at_a_paused_object_writes_nothing(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create(annotations=PAUSE)
    await setting.turn()
    fake.calls.clear()

    await setting.turn()

    assert fake.calls == ["get"]
    assert setting.events.reasons == ["Paused"]


async def test_object_goes_on_when_the_annotation_is_removed(setting: Setting) -> None:
    await setting.shop.create(annotations=PAUSE)
    await setting.turn()
    await resume(setting)

    await setting.turn()

    assert (await setting.reported("Paused"))[:2] == ("False", "Resumed")
    assert (await setting.reported("Successful"))[0] == "True"
    assert setting.events.reasons == ["Paused", "Resumed", "Succeeded"]
    assert setting.events.reported[1] == ("Normal", "Resumed", "Resumed")
    await setting.turn()
    assert setting.events.reasons == ["Paused", "Resumed", "Succeeded"], "it is reported once"


async def test_any_other_value_does_not_pause(setting: Setting) -> None:
    await setting.shop.create(annotations={PAUSED_ANNOTATION: "false"})

    await setting.turn()

    assert len(setting.runner.requests) == 1
    assert await setting.condition("Paused") is None


async def test_paused_object_waits_with_its_finalizer_too(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create(annotations=PAUSE, finalizers=[FINALIZER])
    await setting.shop.delete()

    await setting.turn()
    assert setting.runner.requests == []
    await resume(setting)
    await setting.turn()

    assert setting.runner.requests[0].is_finalizer


async def test_pause_without_managed_status_is_reported_once_by_event(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(manage_status=False), clock)
    await shop.create(annotations=PAUSE)
    for _ in range(3):
        await setting.turn()

    assert setting.events.reasons == ["Paused"]
    assert "status" not in await shop.get()


async def run_times(setting: Setting, times: int) -> None:
    for _ in range(times):
        await setting.turn()


async def test_task_that_changes_five_times_in_a_row_is_named(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(UNSETTLED)
    await run_times(setting, 4)
    assert await setting.condition("NotConverging") is None

    await setting.turn()

    status, reason, message = await setting.reported("NotConverging")
    assert (status, reason) == ("True", "SameTaskChanged")
    assert TASK in message
    assert setting.events.reasons == ["Succeeded", "NotConverging"]


async def test_not_converging_is_reported_once_however_long_it_lasts(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(UNSETTLED)

    await run_times(setting, 9)

    assert setting.events.reasons.count("NotConverging") == 1


async def test_edit_starts_the_count_anew(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(UNSETTLED)
    await run_times(setting, 4)
    await setting.shop.patch({"spec": {"size": 2}})

    await run_times(setting, 4)

    assert await setting.condition("NotConverging") is None


async def test_different_tasks_that_change_in_turn_are_no_loop(setting: Setting) -> None:
    await setting.shop.create()
    other = replace(GOOD, changed_tasks=("roles/app/tasks/main.yml:20: report",))
    setting.runner.will(*(UNSETTLED, other) * 5)

    await run_times(setting, 10)

    assert await setting.condition("NotConverging") is None


async def test_role_that_reports_its_progress_in_status_is_no_loop(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(replace(UNSETTLED, report_tasks={TASK}))

    await run_times(setting, 9)

    assert await setting.condition("NotConverging") is None
    assert "NotConverging" not in setting.events.reasons


async def test_run_without_changes_ends_it(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(*(UNSETTLED,) * 5, GOOD)

    await run_times(setting, 6)

    assert (await setting.reported("NotConverging"))[:2] == ("False", "Converged")


async def test_failed_run_neither_counts_nor_ends_it(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(*(UNSETTLED,) * 5, BAD)

    await run_times(setting, 6)

    assert (await setting.reported("NotConverging"))[0] == "True"


async def test_dependents_of_a_restless_object_wait_longer_each_time(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    setting.runner.will(UNSETTLED)
    await run_times(setting, 5)
    waits = []
    for _ in range(8):
        outcome = await setting.turn(urgency=Urgency.DEPENDENT)
        assert outcome.urgency is Urgency.DEPENDENT
        waits.append(outcome.after_s)
        await clock.advance(outcome.after_s or 0.0)
        await setting.turn(urgency=Urgency.DEPENDENT)

    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]


async def test_edits_and_periods_of_a_restless_object_do_not_wait(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(UNSETTLED)
    await run_times(setting, 5)
    await setting.turn(urgency=Urgency.PERIOD)
    await setting.shop.patch({"spec": {"size": 2}})

    await setting.turn(urgency=Urgency.DEPENDENT)  # the edit and the dependent's event became one

    assert len(setting.runner.requests) == 7
