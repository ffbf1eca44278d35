"""The pages of runs as they are served: to whom, of which run, how large."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.extensions.console.control.engine import NOON, SITE, key
from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.serving import ALL, Shown, place, shown

from rolecall.history import kept_cr, write_spec
from rolecall.reconcile import Progress
from rolecall.record import RecordedRequest, RecordedTask, RunRecord, write_record

WHO = "token-of-anna"
SECRET = "NAME-OF-TASK"


def folder_of(page: Shown, name: str, run: str) -> Path:
    return kept_cr(page.world.root, SITE, "shop", name).artifacts / run


def write_tasks(folder: Path, count: int, name: str = SECRET) -> None:
    (folder / "job_events").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        data: dict[str, Any] = {"task": f"{name} {number}", "task_uuid": f"u{number}"}
        ended = {"host": "localhost", "duration": 0.5, "res": {}}
        for step, kind, more in ((1, "playbook_on_task_start", {}), (2, "runner_on_ok", ended)):
            at = (NOON + timedelta(seconds=number + step / 2)).isoformat()
            event = {"event": kind, "created": at, "event_data": data | more}
            path = folder / "job_events" / f"{2 * number + step}-x.json"
            path.write_text(json.dumps(event))


def record(run: str) -> RunRecord:
    tasks = (RecordedTask("u0", SECRET, "", "k8s", 100.5, 101.0, "ok"),)
    request = RecordedRequest(
        0, 100.6, 0.1, "patch", "", "v1", "pods", "", "shop", "web", 200, task=0, sent_bytes=1500
    )
    return RunRecord(run, NOON, 100.0, tasks, (request,), 102.0)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.has("a")
        page.cluster.knows("anna", *ALL)
        page.cluster.knows("looker", ("list", "websites", "*"), ("get", "websites", "*"))
        for run, generation, seconds in (("1", 1, 2.0), ("2", 2, 5.0)):
            began = NOON + timedelta(hours=generation)
            page.world.keep(
                "a",
                run=run,
                began=began,
                seconds=seconds,
                generation=generation,
                outcome="succeeded",
                cause="edit",
            )
            write_tasks(folder_of(page, "a", run), 2)
            write_spec(folder_of(page, "a", run), {"replicas": generation})
        write_record(folder_of(page, "a", "1"), record("1"))
        yield page


def has_asked(page: Shown, so_far: RunRecord) -> None:
    """The run in flight of each CR, by now."""

    class SoFar:
        def record(self) -> RunRecord:
            return so_far

    timelines = page.page._runs._timelines
    known: Any = SoFar()
    timelines._ports = replace(timelines._ports, requests_so_far=lambda _key: known)


PATHS = [f"{place('a')}/{path}" for path in ("runs/1", "runs/1/facts", "runs/1?fragment=1")]
PATHS += [f"{place('a')}/{path}" for path in ("runs/1/tasks/1", "compare/1/2", "runs/1/stdout")]


@pytest.mark.parametrize("path", PATHS)
async def test_run_is_shown_with_the_right_to_its_log_alone(page: Shown, path: str) -> None:
    answer = await page.asks(path, token="token-of-looker")
    assert (answer.code, SECRET in answer.text) == (403, False)
    assert "X-Total" not in answer.headers
    answer = await page.asks(path, token=WHO)
    assert answer.code == 200
    assert Seen(answer.text).harm == []


async def test_page_says_why_a_run_was_started_and_what_it_cost(page: Shown) -> None:
    text = (await page.asks(f"{place('a')}/runs/2", token=WHO)).text
    assert "the object was edited" in text
    assert "generation 1 became 2" in text
    assert ">.replicas<" in text
    assert "There is no record of its requests." in text
    text = (await page.asks(f"{place('a')}/runs/1", token=WHO)).text
    assert "1 patch" in text and "1.5 KB sent" in text
    assert "0.10 s in 1 request to the API server" in text
    text = (await page.asks(f"{place('a')}/runs/1/tasks/1", token=WHO)).text
    assert "0.10 s in 1 request to the API server (1 write)" in text


async def test_run_in_flight_shows_its_requests_and_how_far_it_is(page: Shown) -> None:
    page.world.keep("a", run="3", began=NOON + timedelta(hours=3), ended=None, outcome="running")
    write_tasks(folder_of(page, "a", "3"), 1)
    path = f"{place('a')}/runs/3"
    text = (await page.asks(path, token=WHO)).text
    assert "Its requests are not recorded so far." in text
    assert "task 1 of about 2, as in the last good run" in text
    assert f'data-live="{path}/events' in text

    has_asked(page, record("3"))
    page.world.in_flight[key("a")] = Progress("3", "edit", NOON, NOON)
    page.clock.step(1)
    text = (await page.asks(f"{path}/facts", token=WHO)).text
    assert "0.10 s in 1 request to the API server" in text
    assert Seen(text).harm == []


async def test_requests_of_another_run_in_flight_are_not_shown(page: Shown) -> None:
    page.world.keep("a", run="3", began=NOON + timedelta(hours=3), ended=None, outcome="running")
    write_tasks(folder_of(page, "a", "3"), 1)

    has_asked(page, record("4"))
    text = (await page.asks(f"{place('a')}/runs/3", token=WHO)).text
    assert "Its requests are not recorded so far." in text


async def test_window_of_a_run_of_five_thousand_tasks_is_bounded(page: Shown) -> None:
    page.world.keep("a", run="9", outcome="failed", seconds=5000.0)
    write_tasks(folder_of(page, "a", "9"), 5000)
    path = f"{place('a')}/runs/9"
    whole = await page.asks(f"{path}?order=time", token=WHO)
    assert len(whole.text) < 250_000
    assert len(re.findall("<tr data-task", whole.text)) == 100
    rows = await page.asks(f"{path}?order=time&fragment=1&from=4000&count=60", token=WHO)
    assert rows.headers["X-Total"] == "5000"
    assert len(rows.text) < 80_000
    assert f"{SECRET} 4059<" in rows.text and f"{SECRET} 4060<" not in rows.text


async def test_any_two_runs_can_be_chosen(page: Shown) -> None:
    text = (await page.asks(f"{place('a')}/compare/1/2", token=WHO)).text
    assert "3.00 s slower" in text
    assert len(re.findall("<option", text)) == 4
    chosen = await page.asks(f"{place('a')}/compare?then=2&now=1", token=WHO)
    assert (chosen.code, chosen.headers["Location"]) == (303, f"{place('a')}/compare/2/1")
    assert (await page.asks(f"{place('a')}/compare?then=2", token=WHO)).code == 404
    hostile = await page.asks(f"{place('a')}/compare?then=%2F%2Fevil&now=%0D%0Ax", token=WHO)
    assert hostile.headers["Location"] == f"{place('a')}/compare/%2F%2Fevil/%0D%0Ax"


async def test_failed_run_shows_what_failed_first_and_others_the_order_of_time(page: Shown) -> None:
    page.world.keep("a", run="9", outcome="failed", seconds=5.0)
    write_tasks(folder_of(page, "a", "9"), 2)
    for run, order, words in (
        ("9", "", "failed and changed ones first; "),
        ("9", "?order=time", "in the order of time; "),
        ("1", "", "in the order of time; "),
        ("1", "?order=failed", "failed and changed ones first; "),
    ):
        text = (await page.asks(f"{place('a')}/runs/{run}{order}", token=WHO)).text
        assert f'<span id="found">2 tasks, {words.strip()}' in text
