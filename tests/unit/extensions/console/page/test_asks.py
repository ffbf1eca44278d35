"""Before an action, a page says what it does, which right it takes, and whether the reader has it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import NOON, Known, key
from tests.unit.extensions.console.page.serving import ALL, Answer, Shown, place, shown

from rolecall.reconcile import Progress

RIGHT = "the right to patch websites.demo.example.com in namespace shop"
ACTIONS = ["reconcile", "stop?run=4711", "pause", "resume"]


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL, ("patch", "websites", "shop"))
        page.cluster.knows("looker", *ALL)
        page.cluster.knows("clerk", ("get", "websites", "shop"), ("patch", "websites", "shop"))
        page.has("a")
        progress = Progress("4711", "edit", NOON, NOON, "TASK-OF-ROLE", "main.yml:3")
        page.world.in_flight = {key("a"): progress}
        yield page


async def asks(page: Shown, action: str, user: str = "anna", name: str = "a") -> Answer:
    return await page.asks(f"{place(name)}/{action}", token=f"token-of-{user}")


@pytest.mark.parametrize("action", ACTIONS)
async def test_question_changes_nothing_and_has_one_button_and_a_way_back(
    page: Shown, action: str
) -> None:
    answer = await asks(page, action)
    path = f"{place('a')}/{action.partition('?')[0]}"
    assert answer.code == 200 and RIGHT in answer.text and "You have it, anna." in answer.text
    assert answer.text.count(f'<form method="post" action="{path}"') == 1
    assert f'<a href="{place("a")}" class="button" data-closes' in answer.text
    assert (page.world.asked, page.cluster.patches) == ([], [])


@pytest.mark.parametrize("action", ACTIONS)
async def test_form_of_the_question_does_what_it_says(page: Shown, action: str) -> None:
    action, _, run = action.partition("?run=")
    form = {"form_token": await page.form_token(token="token-of-anna"), "run": run, "because": ""}
    answer = await page.asks(f"{place('a')}/{action}", form, token="token-of-anna")
    assert (answer.code, answer.headers["Location"]) == (303, place("a"))


@pytest.mark.parametrize("action", ACTIONS)
async def test_reader_without_the_right_gets_the_rule_instead_of_a_button(
    page: Shown, action: str
) -> None:
    answer = await asks(page, action, "looker")
    assert answer.code == 200 and f"{RIGHT}, which you do not have" in answer.text
    assert f'action="{place("a")}' not in answer.text
    for line in ("demo.example.com", "websites", "patch"):
        assert f"[&#34;{line}&#34;]" in answer.text
    assert "a Role in namespace shop" in answer.text


async def test_object_page_names_the_missing_right(page: Shown) -> None:
    text = (await page.asks(place("a"), token="token-of-looker")).text
    assert f"require {RIGHT}, which you do not have" in text
    assert "you do not have" not in (await page.asks(place("a"), token="token-of-anna")).text


@pytest.mark.parametrize("action", ACTIONS)
async def test_reader_who_may_not_get_the_object_learns_nothing(page: Shown, action: str) -> None:
    page.cluster.knows("stranger", ("patch", "websites", "shop"))
    seen = {(await asks(page, action, "stranger", name)).code for name in ("a", "absent")}
    assert seen == {404}


async def test_task_of_the_run_takes_the_log_right(page: Shown) -> None:
    assert "TASK-OF-ROLE" in (await asks(page, "stop?run=4711")).text
    assert "TASK-OF-ROLE" not in (await asks(page, "stop?run=4711", "clerk")).text


@pytest.mark.parametrize("action", ["stop", "stop?run=4710"])
async def test_run_that_ended_meanwhile_is_not_asked_about(page: Shown, action: str) -> None:
    answer = await asks(page, action)
    assert answer.code == 409 and "It has ended already" in answer.text


async def test_replica_that_cannot_do_it_says_so_before(page: Shown) -> None:
    page.world.leads = False
    text = (await asks(page, "reconcile")).text
    assert "the-other-pod" in text and '<form method="post" action="/cr' not in text
    assert f'action="{place("a")}/pause"' in (await asks(page, "pause")).text


async def test_object_that_the_operator_leaves_alone_cannot_be_reconciled(page: Shown) -> None:
    page.world.known[key("a")] = Known(is_selected=False)
    text = (await asks(page, "reconcile")).text
    assert "does not reconcile" in text and '<form method="post" action="/cr' not in text


async def test_paused_object_says_that_nothing_runs(page: Shown) -> None:
    page.world.in_flight = {}
    page.world.known[key("a")] = Known(is_paused=True)
    assert "It is paused: nothing runs until it is resumed." in (await asks(page, "reconcile")).text


async def test_fragment_is_the_question_alone(page: Shown) -> None:
    answer = await asks(page, "pause?fragment=1")
    assert "<html" not in answer.text and '<h2 id="ask-title">Pause Website shop/a?' in answer.text
    assert 'name="because"' in answer.text and 'name="form_token"' in answer.text


async def test_who_has_the_address_of_this_machine_acts_as_the_operator(tmp_path: Path) -> None:
    async with shown(tmp_path, local_token="t") as page:
        page.has("a")
        cookie = (await page.asks("/?token=t")).cookie.partition("=")[2].partition(";")[0]
        text = (await page.asks(f"{place('a')}/pause", cookie=cookie)).text
        assert "You act with the rights of the operator" in text
