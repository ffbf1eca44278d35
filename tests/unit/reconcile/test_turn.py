"""One turn from the first read to the next time, where nothing unusual happens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.reconcile import Outcome, RunDefaults
from rolecall.runner import Ending, RunResult, TaskFailure
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, DISK_FULL, GOOD, RECAP, watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

HOUR = 3600.0
PREFIX = "ansible.sdk.operatorframework.io"


async def test_success_is_reported_and_the_period_comes_next(setting: Setting) -> None:
    await setting.shop.create()

    outcome = await setting.turn()

    assert (outcome.after_s, outcome.is_period, outcome.error) == (10 * HOUR, True, "")
    assert await setting.reported("Running") == (
        "True",
        "Successful",
        "Awaiting next reconciliation",
    )
    assert await setting.reported("Successful") == (
        "True",
        "Successful",
        "Last reconciliation succeeded",
    )
    assert await setting.reported("Failure") == ("False", "", "")
    assert (await setting.reported("Ready"))[0] == "True"
    assert (await setting.shop.get())["status"]["observedGeneration"] == 1
    running = await setting.condition("Running")
    assert running is not None
    assert running["ansibleResult"] == {
        "ok": 3,
        "changed": 1,
        "skipped": 0,
        "failures": 0,
        "completion": RECAP.completion,
    }


async def test_turn_costs_one_read_and_two_writes(setting: Setting, fake: FakeCluster) -> None:
    await setting.shop.create()

    await setting.turn()

    assert fake.calls == ["get", "patch status", "patch status"]


async def test_play_sees_the_object_as_the_running_write_left_it(setting: Setting) -> None:
    await setting.shop.create()

    await setting.turn()

    seen = setting.runner.requests[0].cr
    assert [item["type"] for item in seen["status"]["conditions"]] == ["Ready", "Running"]
    assert seen["metadata"]["resourceVersion"] == "2"


async def test_failure_is_reported_and_the_key_backs_off(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)

    outcome = await setting.turn()

    message = "disk full (task `apply | claim`, roles/app/tasks/main.yml:12, run 1)"
    assert outcome.error == message
    assert await setting.reported("Failure") == ("True", "Failed", message)
    assert await setting.reported("Successful") == ("False", "", "")
    assert (await setting.reported("Running"))[0] == "False"
    assert setting.telemetry.runs == [False]


async def test_conditions_are_reported_as_they_are_after_each_turn(setting: Setting) -> None:
    await setting.shop.create()
    for result, ready in ((GOOD, "True"), (BAD, "False")):
        setting.runner.will(result)
        await setting.turn()
        assert setting.telemetry.reported[setting.key()]["Ready"] == ready


@pytest.mark.parametrize(
    ("ending", "text", "reason", "message"),
    [
        (Ending.TIMED_OUT, "over its limit", "TimedOut", "over its limit (run 1)"),
        (Ending.NO_PROGRESS, "no event for 60 s", "NoProgress", "no event for 60 s (run 1)"),
        (Ending.KILLED, "out of memory", "Killed", "out of memory (run 1)"),
        (Ending.KILLED, "", "Killed", "The run was killed (run 1)"),
        (Ending.NO_RECAP, "syntax error", "PlayBroken", "syntax error (run 1)"),
        (
            Ending.NOT_STARTED,
            "no inventory",
            "Failed",
            "Unable to run reconciliation: no inventory (run 1)",
        ),
    ],
)
async def test_run_without_a_recap_is_a_failure_with_a_reason_of_its_own(
    setting: Setting, ending: Ending, text: str, reason: str, message: str
) -> None:
    await setting.shop.create()
    setting.runner.will(RunResult("", ending, None, reason_text=text))

    outcome = await setting.turn()

    assert outcome.is_error
    assert await setting.reported("Failure") == ("True", reason, message)
    assert await setting.reported("Ready") == ("False", f"Run{reason}", message)


async def test_several_failures_keep_the_old_text_on_top(setting: Setting) -> None:
    other = TaskFailure("no route", "ping", "roles/app/tasks/main.yml:20", host="db1")
    await setting.shop.create()
    setting.runner.will(replace(BAD, failures=(DISK_FULL, other)))

    await setting.turn()

    old, added = (await setting.reported("Failure"))[2].rsplit("\n", 1)
    assert old == "disk full\nno route"
    assert "`ping`, roles/app/tasks/main.yml:20, host `db1`, run 1" in added


async def test_huge_messages_are_bounded(setting: Setting) -> None:
    huge = TaskFailure("x" * 1_000_000, "t" * 10_000, "p:1", detail="d \n" * 10_000)
    await setting.shop.create()
    setting.runner.will(replace(BAD, failures=(huge,) * 50))

    await setting.turn()

    message = (await setting.reported("Failure"))[2]
    assert message.startswith("x" * 1000)
    assert "and 45 more" in message
    assert len(message) < 10_000


async def test_absent_object_is_forgotten(setting: Setting) -> None:
    assert await setting.turn("missing") == Outcome(forget=True)


async def test_missing_spec_is_an_empty_one_where_status_is_not_managed(
    shop: Shop, fake: FakeCluster, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(manage_status=False), clock)
    await shop.create()
    del fake.objects["default", "a"]["spec"]

    outcome = await setting.turn()

    assert setting.runner.requests[0].cr["spec"] == {}
    assert outcome.after_s == 10 * HOUR
    assert "spec" not in await shop.get()
    assert "status" not in await shop.get()


async def test_status_not_managed_is_never_written(shop: Shop, clock: VirtualClock) -> None:
    setting = Setting(shop, watch_of(manage_status=False), clock)
    bad_period = {f"{PREFIX}/reconcile-period": "soon"}
    await shop.create()
    await shop.create("b", annotations=bad_period)
    setting.runner.will(BAD)

    assert (await setting.turn()).is_error
    assert (await setting.turn("b")).is_error

    assert "status" not in await shop.get()
    assert "status" not in await shop.get("b")


@pytest.mark.parametrize(
    ("asked_s", "after_s"), [(30.0, 30.0), (0.0, None), (-1.0, None), (None, 10 * HOUR)]
)
async def test_requeue_after_is_honoured_once_the_play_ended(
    setting: Setting, asked_s: float | None, after_s: float | None
) -> None:
    await setting.shop.create()
    setting.runner.will(replace(GOOD, requeue_after_s=asked_s))

    outcome = await setting.turn()

    assert outcome.after_s == after_s
    assert outcome.is_period == (asked_s is None)
    assert (await setting.reported("Successful"))[0] == "True"


@pytest.mark.parametrize(("period", "after_s"), [("90s", 90.0), ("0s", None), ("-5s", None)])
async def test_period_annotation_wins_over_the_watch(
    setting: Setting, period: str, after_s: float | None
) -> None:
    await setting.shop.create(annotations={f"{PREFIX}/reconcile-period": period})

    assert (await setting.turn()).after_s == after_s


async def test_bad_period_annotation_is_a_failure_and_nothing_runs(setting: Setting) -> None:
    await setting.shop.create(annotations={f"{PREFIX}/reconcile-period": "5x"})

    outcome = await setting.turn()

    message = 'Unable to parse reconcile period annotation: time: unknown unit "x" in duration "5x"'
    assert outcome == Outcome(error=message)
    assert await setting.reported("Failure") == ("True", "Failed", message)
    assert setting.runner.requests == []
    assert setting.telemetry.runs == [False]
    assert setting.telemetry.ways == [("none", 0.0)]


async def test_annotations_that_are_no_numbers_are_ignored(setting: Setting) -> None:
    annotations = {f"{PREFIX}/verbosity": "loud", f"{PREFIX}/max-runner-artifacts": "٣"}
    await setting.shop.create(annotations=annotations)

    await setting.turn()

    request = setting.runner.requests[0]
    assert (request.verbosity, request.keep_artifacts) == (2, 20)


async def test_time_limits_of_the_watch_win_over_the_defaults(
    shop: Shop, clock: VirtualClock
) -> None:
    defaults = RunDefaults(timeout_s=100.0, no_progress_timeout_s=50.0, play_verbosity=3)
    setting = Setting(shop, watch_of(run_timeout_s=7.0), clock, defaults=defaults)
    await shop.create()

    await setting.turn()

    request = setting.runner.requests[0]
    assert (request.timeout_s, request.no_progress_timeout_s) == (7.0, 50.0)
    assert setting.plays.events == [("playbook_on_start", 3)]


async def test_access_lasts_as_long_as_the_run(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(GOOD)

    await setting.turn()

    assert setting.runner.requests[0].kubeconfig == Path("/kubeconfigs/1")
    assert setting.access.live == []


async def test_run_that_gets_no_access_is_reported_as_unable_to_run(setting: Setting) -> None:
    await setting.shop.create()
    setting.access.error = OSError("disk full")

    outcome = await setting.turn()

    status, reason, message = await setting.reported("Failure")
    assert (status, reason) == ("True", "Failed")
    assert message.startswith("Unable to run reconciliation: access")
    assert outcome.error == message
    assert setting.runner.requests == []


async def test_recap_and_phases_are_passed_on(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(replace(GOOD, artifacts=Path("/artifacts/1")))

    outcome = await setting.turn()

    await setting.reconciler.print_output(setting.key(), outcome)
    ((key, result),) = setting.plays.recaps
    assert (key, result.recap_stdout) == (setting.key(), "PLAY RECAP")
    assert setting.telemetry.phases == ["prepare", "run", "status"]
    assert dict(outcome.ran) == {
        "generation": 1,
        "run": "1",
        "outcome": "succeeded",
        "way": "stock",
        "seconds": 0.5,
    }


async def test_tasks_are_counted_by_how_they_were_started(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(replace(GOOD, tasks_by_way={"inline": 3, "stock": 1}))

    await setting.turn()

    assert setting.telemetry.tasks == {"inline": 3, "stock": 1}
