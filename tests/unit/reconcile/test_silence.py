"""A run that says nothing for a minute: an Event names its task, once."""

from __future__ import annotations

from rolecall.runner import Ending, RunResult, TaskFailure
from tests.unit.reconcile.setting import Setting, long_run
from tests.unit.workqueue.virtual_clock import VirtualClock

SPEAKS_EVERY_S = 20.0


async def test_task_that_says_nothing_for_a_minute_is_named_by_an_event_once(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting):
        await clock.advance(2.0)
        setting.runner.begins("Wait for the database")
        await clock.advance(59.9)
        assert setting.events.reported == []

        await clock.advance(600.0)

    assert setting.events.reported[:-1] == [
        (
            "Warning",
            "NoOutput",
            "No output for a minute in task `Wait for the database`"
            " (roles/web/tasks/main.yml:12); the run goes on",
        )
    ]


async def test_task_that_speaks_is_not_said_to_be_silent(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting):
        setting.runner.begins("Wait")
        for _ in range(20):
            await clock.advance(SPEAKS_EVERY_S)
            setting.runner.speaks()

        assert setting.events.reported == []


async def test_play_that_hangs_before_its_first_task_is_reported_too(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting):
        await clock.advance(61.0)

        message = "No output for a minute before the first task; the run goes on"
        assert setting.events.reported == [("Warning", "NoOutput", message)]


async def test_task_that_a_limit_ended_has_its_time_in_status_and_not_in_the_event(
    setting: Setting,
) -> None:
    await setting.shop.create()
    text = "no output for 6 s in task `wait` (a.yml:7); stopped"
    at = TaskFailure(text, "wait", "a.yml:7", since="22:41:07 UTC")
    setting.runner.will(RunResult("", Ending.NO_PROGRESS, None, reason_text=text, failures=[at]))

    await setting.turn()

    reported = f"{text} (begun at 22:41:07 UTC, run 1)"
    assert await setting.reported("Failure") == ("True", "NoProgress", reported)
    assert setting.events.reported == [("Warning", "TimedOut", text)]
