"""Plans that readers ask for: who may, how many go at once, and what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from tests.fixtures.eventually import eventually_async
from tests.unit.extensions.console.control.engine import key
from tests.unit.extensions.console.page.planned import config_map, note, plan, planned
from tests.unit.extensions.console.page.serving import Answer, Shown, place, shown

from rolecall.errors import InputError
from rolecall.plan import PlannedRun
from rolecall.workqueue import Key

GET, LOG, PATCH = (
    ("get", "websites", "shop"),
    ("get", "websites/log", "shop"),
    ("patch", "websites", "shop"),
)


class Engine:
    """Makes plans when a test says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []
        self.cancelled: list[str] = []
        self.result: PlannedRun | Exception = plan(
            planned(config_map("old"), config_map("NEW-VALUE")),
            notes=(note("wait", "the pod"),),
            seconds=1.5,
        )
        self.may_end = asyncio.Event()

    async def __call__(self, key: Key, place: int) -> PlannedRun:
        self.begun.append((key.name, place))
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled.append(key.name)
            raise
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def page(tmp_path: Path, engine: Engine) -> AsyncIterator[Shown]:
    async with shown(tmp_path, plan=engine) as page:
        page.has("blog", *(f"site-{number}" for number in range(30)))
        page.cluster.knows("operator", GET, LOG, PATCH)
        page.cluster.knows("no-log", GET, PATCH)
        page.cluster.knows("no-patch", GET, LOG)
        page.cluster.knows("stranger", LOG, PATCH)
        yield page


async def sees(page: Shown, name: str = "blog", user: str = "operator", query: str = "") -> str:
    answer = await page.asks(f"{place(name)}/plan{query}", token=f"token-of-{user}")
    return answer.text if answer.code == 200 else str(answer.code)


async def asks(page: Shown, name: str = "blog", user: str = "operator") -> Answer:
    token = f"token-of-{user}"
    form = {"form_token": await page.form_token(token=token)}
    return await page.asks(f"{place(name)}/plan", form, token=token)


async def test_plan_is_asked_for_once_made_and_shown(page: Shown, engine: Engine) -> None:
    assert "Plan a run now" in await sees(page)
    answer = await asks(page)
    assert (answer.code, answer.headers["Location"]) == (303, f"{place('blog')}/plan")
    waiting = await sees(page)
    assert "data-awaits" in waiting and 'http-equiv="refresh"' in waiting
    assert "Plan a run now" not in waiting and "Plan again" not in waiting
    await asks(page)  # another click
    assert engine.begun == [("blog", 0)]
    engine.may_end.set()
    text = await eventually_async(lambda: sees(page), lambda text: "1 to change" in text)
    for word in ("+ .data.conf: NEW-VALUE", "would wait for: the pod", "main.yml:12", "1.5 s"):
        assert word in text
    assert "data-awaits" not in text and "refresh" not in text and "Plan again" in text
    assert "<html" not in await sees(page, query="?fragment=1")


@pytest.mark.parametrize("user", ["no-log", "no-patch", "stranger"])
async def test_reader_without_the_rights_learns_nothing_of_a_plan(
    page: Shown, engine: Engine, user: str
) -> None:
    before = [await sees(page, user=user, query=query) for query in ("", "?fragment=1")]
    assert (await asks(page, user=user)).code in (403, 404)
    assert engine.begun == []
    await asks(page)
    during = [await sees(page, user=user, query=query) for query in ("", "?fragment=1")]
    engine.may_end.set()
    await eventually_async(lambda: sees(page), lambda text: "1 to change" in text)
    after = [await sees(page, user=user, query=query) for query in ("", "?fragment=1")]
    assert before == during == after
    assert user == "stranger" or "You lack the right to" in before[0]


async def test_right_that_was_taken_away_hides_the_result(page: Shown, engine: Engine) -> None:
    engine.may_end.set()
    await asks(page)
    await eventually_async(lambda: sees(page), lambda text: "NEW-VALUE" in text)
    page.cluster.rules["operator"].remove(LOG)
    page.clock.step(31)
    assert "NEW-VALUE" not in await sees(page)


async def test_at_most_two_go_at_once_and_some_wait(page: Shown, engine: Engine) -> None:
    for number in range(10):
        assert (await asks(page, f"site-{number}")).code == 303
    assert (await asks(page, "site-10")).code == 429
    assert engine.begun == [("site-0", 0), ("site-1", 1)]
    assert "Other plans run first" in await sees(page, "site-9")
    engine.may_end.set()
    await eventually_async(lambda: sees(page, "site-9"), lambda text: "1 to change" in text)
    assert len(engine.begun) == 10


async def test_results_of_twenty_are_kept(page: Shown, engine: Engine) -> None:
    engine.may_end.set()
    for number in range(22):
        await asks(page, f"site-{number}")
        look = partial(sees, page, f"site-{number}")
        await eventually_async(look, lambda text: "1 to" in text)
    assert ["1 to" in await sees(page, f"site-{number}") for number in (0, 1, 2)] == [
        False,
        False,
        True,
    ]
    page.page.forget(key("site-21"))
    assert "1 to" not in await sees(page, "site-21")


@pytest.mark.parametrize("failure", [InputError("it is <b>being</b> deleted"), KeyError("a bug")])
async def test_failure_is_shown_in_words(page: Shown, engine: Engine, failure: Exception) -> None:
    engine.result = failure
    engine.may_end.set()
    await asks(page)
    text = await eventually_async(lambda: sees(page), lambda text: "Plan again" in text)
    assert "it is &lt;b&gt;being" in text or "Internal error" in text


async def test_failed_role_is_shown_with_what_came_before(page: Shown, engine: Engine) -> None:
    engine.result = plan(planned(None, config_map()), failure="tasks/main.yml:3 failed: no disk")
    engine.may_end.set()
    await asks(page)
    text = await eventually_async(lambda: sees(page), lambda text: "no disk" in text)
    assert "Its role failed; 1 to create before that" in text


async def test_engine_that_stops_ends_its_plans(page: Shown, engine: Engine) -> None:
    for number in range(3):
        await asks(page, f"site-{number}")
    page.page.cancel_plans()
    text = await eventually_async(lambda: sees(page, "site-0"), lambda text: "shuts down" in text)
    assert "because the operator shuts down" in text
    assert engine.cancelled == ["site-0", "site-1"]


async def test_plan_is_made_where_the_runs_are(page: Shown, engine: Engine) -> None:
    page.world.leads = False
    assert (await asks(page)).code == 409
    page.world.leads = True
    assert (await asks(page, "unknown")).code == 404
    assert engine.begun == []


async def test_form_of_another_site_plans_nothing(page: Shown, engine: Engine) -> None:
    answer = await page.asks(
        f"{place('blog')}/plan", {"form_token": "guessed"}, token="token-of-operator"
    )
    assert (answer.code, engine.begun) == (403, [])
