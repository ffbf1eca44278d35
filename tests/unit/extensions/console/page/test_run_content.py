"""What runs did is shown with the right to read their log alone, on every page that there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import NOON, SITE, key
from tests.unit.extensions.console.page.serving import Shown, place, shown

from rolecall.history import FailedTask, kept_cr
from rolecall.history.spec import SPEC_FILE
from rolecall.reconcile import Progress
from rolecall.workqueue import Cause, Urgency, Waiting

LIST, GET, LOG = (
    ("list", "websites", "shop"),
    ("get", "websites", "shop"),
    ("get", "websites/log", "shop"),
)
WORDS = ("TASK-OF-ROLE", "PLACE-OF-TASK", "CAUSE-OF-RUN", "REASON-OF-FAILURE", "OLD-SPEC")
PATHS = [
    "/",
    "/?fragment=1",
    "/?span=day",
    "/kinds",
    "/crs",
    "/crs?fragment=1",
    "/crs?state=running",
    "/crs?state=failed&fragment=1",
    "/crs?name=busy&fragment=1",
    "/crs?kind=Website&namespace=shop",
    f"{place('busy')}/stop?run=9",
    f"{place('busy')}/pause?fragment=1",
    "/crs?group=reason",
    "/crs?group=reason&fragment=1",
    "/crs?group=state",
    "/crs?same=!",
    "/crs?sort=-took",
    *(
        f"{place(name)}{query}"
        for name in ("busy", "broken", "late", "good")
        for query in ("", "?fragment=1", "/plan", "/plan?fragment=1")
    ),
]


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.has("busy", "broken", "late", "good")
        world, cause = page.world, "CAUSE-OF-RUN"
        world.in_flight[key("busy")] = Progress(
            "9", cause, NOON, NOON, "TASK-OF-ROLE", "PLACE-OF-TASK"
        )
        world.waiting.append(Waiting(key("late"), Urgency.EDIT, Cause(cause), 0.0, 1))
        failed = FailedTask("TASK-OF-ROLE", "PLACE-OF-TASK", "REASON-OF-FAILURE")
        world.keep(
            "broken",
            run="7",
            outcome="failed",
            reason="REASON-OF-FAILURE",
            failed_task=failed,
            cause=cause,
        )
        world.keep("good", run="8", outcome="succeeded")
        good = kept_cr(world.root, SITE, "shop", "good").artifacts / "8"
        (good / SPEC_FILE).write_text('{"password": "OLD-SPEC"}')
        page.cluster.knows("looker", LIST, GET)
        page.cluster.knows("operator", LIST, GET, LOG)
        page.cluster.knows("elsewhere", LIST, GET, ("get", "websites/log", "bank"))
        page.cluster.knows("some-of-it", LIST, GET, ("get", "websites/logs", "*"))
        yield page


async def said(page: Shown, path: str, user: str) -> list[str]:
    answer = await page.asks(path, token=f"token-of-{user}")
    assert answer.code == 200, answer.text
    return [word for word in WORDS if word in answer.text]


@pytest.mark.parametrize("user", ["looker", "elsewhere", "some-of-it"])
@pytest.mark.parametrize("path", PATHS)
async def test_reader_without_the_log_right_sees_no_run_content(
    page: Shown, path: str, user: str
) -> None:
    assert await said(page, path, user) == []


async def test_reader_with_the_log_right_sees_all_of_it(page: Shown) -> None:
    seen = {word for path in PATHS for word in await said(page, path, "operator")}
    assert seen == set(WORDS)


async def test_states_and_objects_are_seen_without_it(page: Shown) -> None:
    text = (await page.asks("/crs", token="token-of-looker")).text
    for word in ("busy", "broken", "late", ">running<", ">failed<", ">waiting<"):
        assert word in text
