"""Objects that people paused, and objects whose role never comes to rest."""

from __future__ import annotations

from dataclasses import replace

from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.stage import Stage
from tests.unit.workqueue.virtual_clock import VirtualClock

PAUSE = {PAUSED_ANNOTATION: "true"}
TASK = "roles/app/tasks/main.yml:12: apply | claim"
RESTLESS = replace(GOOD, changed_tasks=(TASK,))


async def resume(stage: Stage) -> None:
    await stage.shop.patch({"metadata": {"annotations": {PAUSED_ANNOTATION: None}}})


async def test_paused_object_says_so_and_nothing_runs(stage: Stage) -> None:
    await stage.shop.create(annotations=PAUSE)

    outcome = await stage.turn()

    assert (outcome.after_s, outcome.is_period) == (36000.0, True)
    assert (await stage.told("Paused"))[:2] == ("True", "PausedByAnnotation")
    assert await stage.condition("Running") is None
    assert stage.runner.requests == []
    assert stage.events.reasons == ["Paused"]


async def test_second_look_at_a_paused_object_writes_nothing(
    stage: Stage, fake: FakeCluster
) -> None:
    await stage.shop.create(annotations=PAUSE)
    await stage.turn()
    fake.calls.clear()

    await stage.turn()

    assert fake.calls == ["get"]
    assert stage.events.reasons == ["Paused"]


async def test_object_goes_on_when_the_annotation_is_removed(stage: Stage) -> None:
    await stage.shop.create(annotations=PAUSE)
    await stage.turn()
    await resume(stage)

    await stage.turn()

    assert (await stage.told("Paused"))[:2] == ("False", "Resumed")
    assert (await stage.told("Successful"))[0] == "True"
    assert stage.events.reasons == ["Paused", "Resumed", "Succeeded"]


async def test_any_other_value_does_not_pause(stage: Stage) -> None:
    await stage.shop.create(annotations={PAUSED_ANNOTATION: "false"})

    await stage.turn()

    assert len(stage.runner.requests) == 1
    assert await stage.condition("Paused") is None


async def test_paused_object_waits_with_its_finalizer_too(holding_stage: Stage) -> None:
    stage = holding_stage
    await stage.shop.create(annotations=PAUSE, finalizers=[FINALIZER])
    await stage.shop.delete()

    await stage.turn()
    assert stage.runner.requests == []
    await resume(stage)
    await stage.turn()

    assert stage.runner.requests[0].is_finalizer


async def test_pause_without_managed_status_is_told_once_by_event(
    shop: Shop, clock: VirtualClock
) -> None:
    stage = Stage(shop, watch_of(manage_status=False), clock)
    await shop.create(annotations=PAUSE)
    for _ in range(3):
        await stage.turn()

    assert stage.events.reasons == ["Paused"]
    assert "status" not in await shop.get()


async def run_times(stage: Stage, times: int) -> None:
    for _ in range(times):
        await stage.turn()


async def test_task_that_changes_five_times_in_a_row_is_named(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(RESTLESS)
    await run_times(stage, 4)
    assert await stage.condition("NotConverging") is None

    await stage.turn()

    status, reason, message = await stage.told("NotConverging")
    assert (status, reason) == ("True", "SameTaskChanged")
    assert TASK in message
    assert stage.events.reasons == ["Succeeded", "NotConverging"]


async def test_not_converging_is_told_once_however_long_it_lasts(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(RESTLESS)

    await run_times(stage, 9)

    assert stage.events.reasons.count("NotConverging") == 1


async def test_edit_starts_the_count_anew(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(RESTLESS)
    await run_times(stage, 4)
    await stage.shop.patch({"spec": {"size": 2}})

    await run_times(stage, 4)

    assert await stage.condition("NotConverging") is None


async def test_different_tasks_that_change_in_turn_are_no_loop(stage: Stage) -> None:
    await stage.shop.create()
    other = replace(GOOD, changed_tasks=("roles/app/tasks/main.yml:20: report",))
    stage.runner.will(*(RESTLESS, other) * 5)

    await run_times(stage, 10)

    assert await stage.condition("NotConverging") is None


async def test_role_that_reports_its_progress_in_status_is_no_loop(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(replace(RESTLESS, telling_tasks={TASK}))

    await run_times(stage, 9)

    assert await stage.condition("NotConverging") is None
    assert "NotConverging" not in stage.events.reasons


async def test_run_without_changes_ends_it(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(*(RESTLESS,) * 5, GOOD)

    await run_times(stage, 6)

    assert (await stage.told("NotConverging"))[:2] == ("False", "Converged")


async def test_failed_run_neither_counts_nor_ends_it(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(*(RESTLESS,) * 5, BAD)

    await run_times(stage, 6)

    assert (await stage.told("NotConverging"))[0] == "True"


async def test_dependents_of_a_restless_object_wait_longer_each_time(
    stage: Stage, clock: VirtualClock
) -> None:
    await stage.shop.create()
    stage.runner.will(RESTLESS)
    await run_times(stage, 5)
    waits = []
    for _ in range(8):
        outcome = await stage.turn(urgency=Urgency.DEPENDENT)
        assert outcome.urgency is Urgency.DEPENDENT
        waits.append(outcome.after_s)
        await clock.advance(outcome.after_s or 0.0)
        await stage.turn(urgency=Urgency.DEPENDENT)

    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]


async def test_edits_and_periods_of_a_restless_object_do_not_wait(stage: Stage) -> None:
    await stage.shop.create()
    stage.runner.will(RESTLESS)
    await run_times(stage, 5)
    await stage.turn(urgency=Urgency.PERIOD)
    await stage.shop.patch({"spec": {"size": 2}})

    await stage.turn(urgency=Urgency.DEPENDENT)  # the edit and the dependent's event became one

    assert len(stage.runner.requests) == 7
