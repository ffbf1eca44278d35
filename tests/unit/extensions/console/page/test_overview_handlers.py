"""The overview and kinds over time count what their reader may list, and nothing else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import key
from tests.unit.extensions.console.page.serving import ALL, Shown, shown

from rolecall.extensions.console.page.trends.trends import KeptTurn
from rolecall.history import FailedTask
from rolecall.reconcile import Outcome, Progress

NAMESPACES = ("shop", "bank", "zoo")
LONG = "REASON-OF-FAILURE " + "x" * 1000 + " END-OF-REASON"


def runs_of(page: Shown, namespace: str, count: int, outcome: str = "succeeded") -> None:
    """Runs that ended five minutes ago."""
    trends = page.page.trends
    ended_s = trends.now_s() - 300
    turn = KeptTurn(
        key("site", namespace), ended_s, outcome, 2.0, f"CAUSE-{namespace}", ended_s, True
    )
    trends.begin_reading()
    trends.add_kept([turn] * count)
    trends.end_reading(ended_s - 86_400)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        for namespace in NAMESPACES:
            page.has("site", namespace=namespace)
        page.has("broken", "busy")
        failed = FailedTask("TASK-OF-ROLE", "PLACE-OF-TASK", LONG)
        page.world.keep("broken", outcome="failed", reason=LONG, failed_task=failed)
        runs_of(page, "shop", 5)
        runs_of(page, "bank", 40, "failed")
        runs_of(page, "zoo", 700)
        page.cluster.knows("all", *ALL)
        rules = ("list", "websites", "shop"), ("get", "websites", "shop")
        page.cluster.knows("looker", *rules)
        page.cluster.knows("keeper", *rules, ("get", "websites/log", "shop"))
        yield page


async def said(page: Shown, path: str, user: str) -> str:
    answer = await page.asks(path, token=f"token-of-{user}")
    assert answer.code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("path", ["/", "/?span=day", "/?fragment=1", "/?span=day&fragment=1"])
async def test_reader_of_one_namespace_counts_its_runs_alone(page: Shown, path: str) -> None:
    assert "745 runs, 40 of them failed" in await said(page, path, "all")
    for user in ("looker", "keeper"):
        text = await said(page, path, user)
        assert "5 runs, none failed" in text
        assert "bank" not in text and "zoo" not in text


async def test_kinds_over_time_count_the_same(page: Shown) -> None:
    text = await said(page, "/kinds?since=1h", "all")
    assert "745 runs" in text and "40 failed" in text
    text = await said(page, "/kinds?since=1h", "looker")
    assert "5 runs" in text and "745" not in text and "failed" not in text


async def test_reasons_and_causes_need_the_log_right(page: Shown) -> None:
    text = await said(page, "/", "looker")
    assert "You may not read the reason" in text
    assert text.count("which you may not read") == 2
    assert not re.search("CAUSE-|REASON|TASK-OF|PLACE-OF", text)
    text = await said(page, "/", "keeper")
    assert LONG in text and "TASK-OF-ROLE" in text and "CAUSE-shop" in text
    assert "CAUSE-bank" not in text


async def test_object_fails_until_a_run_of_it_succeeds(page: Shown) -> None:
    assert "1 object fails" in await said(page, "/", "keeper")
    page.world.in_flight[key("broken")] = Progress.at_start("2", "edit", page.clock.now())
    page.clock.step(30)
    text = await said(page, "/", "keeper")
    assert "1 object fails" in text and "running again" in text and LONG in text
    page.world.in_flight.clear()
    page.world.keep("broken", run="2", outcome="succeeded")
    page.world.last_runs.turn_over(key("broken"), Outcome(ran={"run": "2"}))
    page.clock.step(30)
    assert "No object fails" in await said(page, "/", "keeper")


async def test_progress_of_a_run_needs_the_log_right(page: Shown) -> None:
    began = page.clock.now()
    page.world.in_flight[key("busy")] = replace(
        Progress.at_start("2", "edit", began), tasks=7, waits_since=began
    )
    text = await said(page, "/", "keeper")
    assert "task 7" in text and "badge waits" in text
    text = await said(page, "/", "looker")
    assert "task 7" not in text and "badge waits" not in text


async def test_strange_addresses_have_a_page(page: Shown) -> None:
    for path in ("/?span=year", "/kinds?since=%3Cscript%3E", "/kinds?since=", "/kinds"):
        assert "<script>alert" not in await said(page, path, "all")
