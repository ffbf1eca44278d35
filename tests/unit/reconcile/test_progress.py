"""What a run in flight is known to be at."""

from __future__ import annotations

import asyncio
from typing import Any

from rolecall.reconcile import Progress
from rolecall.runner import RunEvent
from tests.unit.reconcile.scripted import GOOD
from tests.unit.reconcile.setting import LongRun, Setting
from tests.unit.workqueue.virtual_clock import START, VirtualClock

AT_START = Progress.at_start("1", "edit of generation 4", START)


def word(name: str, place: str = "", **data: Any) -> RunEvent:
    return RunEvent(name, 1, "", "", data, place)


async def test_task_that_begins_is_named_with_place_and_time() -> None:
    clock = VirtualClock()
    await clock.advance(3.0)

    progress = AT_START.after(
        word("playbook_on_task_start", "roles/web/tasks/main.yml:12", task="Wait"), clock.now()
    )

    assert (progress.task, progress.place) == ("Wait", "roles/web/tasks/main.yml:12")
    assert progress.task_since == clock.now()
    assert (progress.began, progress.cause) == (START, "edit of generation 4")


async def test_any_other_word_leaves_the_task_and_its_time_alone() -> None:
    clock = VirtualClock()
    waiting = AT_START.after(word("playbook_on_task_start", "a.yml:1", task="Wait"), clock.now())
    await clock.advance(7.0)

    progress = waiting.after(word("runner_retry", "a.yml:1", task="Wait"), clock.now())

    assert (progress.task, progress.task_since) == ("Wait", START)


def test_name_of_a_task_is_one_line_of_bounded_length() -> None:
    hostile = "a\nRunning\x00 \udcff" + "x" * 5000

    progress = AT_START.after(word("playbook_on_task_start", task=hostile), START)

    assert progress.task.startswith("a Running x")
    assert AT_START.after(word("playbook_on_task_start", task="Wait"), START).place == ""

    assert progress.where.isprintable()
    assert len(progress.where) < 300
    assert progress.where.encode()


def test_tasks_that_began_are_counted() -> None:
    progress = AT_START
    for event in ("playbook_on_task_start", "runner_on_ok", "playbook_on_handler_task_start"):
        progress = progress.after(word(event, task="Wait"), START)

    assert (AT_START.tasks, progress.tasks) == (0, 2)


def test_garbage_in_events_is_no_task() -> None:
    progress = AT_START.after(word("playbook_on_task_start", task=["no", "text"]), START)

    assert progress.where == ""


async def test_run_is_in_flight_from_its_start_to_its_end(setting: Setting) -> None:
    await setting.shop.create()
    run = LongRun()
    setting.runner.will(run)
    turn = asyncio.create_task(setting.turn())
    await run.began.wait()

    assert setting.reconciler.in_flight()[setting.key()].run_id == "1"

    run.end(GOOD)
    await turn
    assert setting.reconciler.in_flight() == {}
