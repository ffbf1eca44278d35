"""What the log says of a run: a line at its start, and one at its end that says all."""

from __future__ import annotations

import logging

import pytest

from rolecall.kube import UnavailableError
from rolecall.runner import RunRequest, RunResult
from rolecall.workqueue import Cause, Urgency
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import Setting, working
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_log_reports_start_and_end_of_a_run_with_the_next_time(
    setting: Setting, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await setting.shop.create()
    setting.runner.will(GOOD, BAD)
    with caplog.at_level(logging.INFO):
        async with working(setting) as (queue, _):
            queue.add(setting.key(), Urgency.EDIT)
            await clock.rest()
            queue.add(setting.key(), Urgency.EDIT)
            await clock.rest()

    reported = [(record.getMessage(), record.__dict__["fields"]) for record in caplog.records]
    started, finished = reported[0], reported[1]
    assert started[0] == "run started"
    assert started[1] | {"generation": 1, "run": "1", "name": "a"} == started[1]
    assert finished[0] == "run finished"
    assert finished[1]["next_in_s"] == 36000.0
    assert [message for message, _ in reported].count("run failed") == 1


async def test_failed_run_is_one_line_that_says_why_where_and_what_next(
    setting: Setting, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)
    with caplog.at_level(logging.INFO):
        async with working(setting) as (queue, _):
            queue.add(setting.key(), Urgency.EDIT, Cause("edit of generation 4"))
            await clock.rest()

    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in errors] == ["run failed"]
    fields = errors[0].__dict__["fields"]
    assert list(fields.items())[3:8] == [
        ("cause", "edit of generation 4"),
        ("task", "apply | claim"),
        ("place", "roles/app/tasks/main.yml:12"),
        ("error", "disk full"),
        ("next_in_s", 1.0),
    ]
    assert fields["run"] == "1"


async def test_what_ansible_printed_last_follows_the_line_about_the_failure(
    setting: Setting,
    clock: VirtualClock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)
    before: list[str] = []

    async def recap(*_: object) -> None:
        before.extend(record.getMessage() for record in caplog.records)

    monkeypatch.setattr(setting.plays, "recap", recap)
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.rest()

    assert before[-1] == "run failed"


async def test_status_that_cannot_be_written_is_not_reported_as_a_failed_run(
    setting: Setting, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await setting.shop.create()

    async def breaks(request: RunRequest) -> RunResult:
        async def fails(*_: object, **__: object) -> dict[str, object]:
            raise UnavailableError("no answer")

        setattr(setting.shop.cluster, "merge_patch", fails)  # noqa: B010 - a method
        return GOOD

    setting.runner.will(breaks)
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.rest()

    reported = [(each.getMessage(), each.__dict__.get("fields", {})) for each in caplog.records]
    assert ("run failed", "no answer") not in [(text, at.get("error")) for text, at in reported]
    assert ("reconcile failed", "no answer") in [(text, at.get("error")) for text, at in reported]
