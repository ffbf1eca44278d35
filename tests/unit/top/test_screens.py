"""Keys of `rolecall top` by Textual's pilot, with an operator that a test makes up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from rolecall_dev.top.app import TopApp
from rolecall_dev.top.operator import CommandOutput
from tests.fixtures.eventually import eventually_async
from tests.unit.top.fake_operator import FakeOperator, cr

SHOP = ("website.demo.example.com/shop", "--namespace=prod")
CRS = (
    cr("blog", last={"ended": "2026-11-01T10:00:00Z", "outcome": "succeeded"}),
    cr("shop", "running", began="2026-11-01T12:00:00Z", run="4711", task="Wait"),
    cr(
        "accounts",
        "failed",
        "Database",
        last={"ended": "2026-11-01T11:00:00Z", "reason": "no disk"},
    ),
)
HOSTILE = "[red]a[/] [@click=app.quit]b[/] \x1b]0;title\x07\x1b[2Jc\u202ed"
HARMLESS = "[red]a[/] [@click=app.quit]b[/] cd"


def shown(pilot: Pilot[None]) -> str:
    """The text of the screen, notifications included."""
    return "\n".join(strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips())


async def until(pilot: Pilot[None], is_met: Callable[[str], bool]) -> str:
    async def text() -> str:
        await pilot.pause()
        return shown(pilot)

    return await eventually_async(text, is_met)


@asynccontextmanager
async def opened(operator: FakeOperator, retry_s: float = 0.01) -> AsyncIterator[Pilot[None]]:
    """The application once it shows the first state."""
    app = TopApp(operator, retry_s)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda text: "sorted by" in text)
        yield pilot


def names(text: str) -> list[str]:
    """The CRs of the table, from above."""
    rows = [line.split() for line in text.splitlines() if line.startswith(" prod ")]
    return [row[1].partition("/")[2] for row in rows]


async def press(pilot: Pilot[None], *keys: str, shows: str = "") -> str:
    """The text of the screen once it shows this."""
    await pilot.press(*keys)
    return await until(pilot, lambda text: shows in text)


async def lists(pilot: Pilot[None], *expected: str) -> None:
    """Wait until the table has these CRs, from above."""
    await until(pilot, lambda text: names(text) == [*expected])


async def acted(pilot: Pilot[None], operator: FakeOperator, *words: str) -> None:
    """Wait until just this command was called."""
    await until(pilot, lambda _: operator.acts() == [[*words]])


async def test_table_has_the_columns_of_status_and_counts_states() -> None:
    async with opened(FakeOperator(*CRS)) as pilot:
        text = await until(pilot, lambda text: "no disk" in text)
    for title in ("NAMESPACE", "CR", "STATE", "FOR", "WHAT", "LAST"):
        assert f" {title} " in text
    assert "3 CRs: 1 failed, 1 running, 1 ready" in text
    assert "engine of a test" in text


async def test_stopped_cr_is_counted_and_failures_come_first() -> None:
    crs = (cr("a", "stopped"), cr("b", "failed"), cr("c", "running"))
    async with opened(FakeOperator(*crs)) as pilot:
        await until(pilot, lambda text: "3 CRs: 1 failed, 1 running, 1 stopped" in text)


async def test_s_sorts_by_kind_age_state_and_name() -> None:
    async with opened(FakeOperator(*CRS)) as pilot:
        await lists(pilot, "accounts", "blog", "shop")
        await pilot.press("s")
        await lists(pilot, "blog", "accounts", "shop")
        await pilot.press("s")
        await lists(pilot, "accounts", "shop", "blog")
        await press(pilot, "s", shows="sorted by name")
        await lists(pilot, "accounts", "blog", "shop")
        await press(pilot, "s", shows="sorted by kind")


async def test_filter_shows_rows_that_contain_the_text_until_escape() -> None:
    async with opened(FakeOperator(*CRS)) as pilot:
        await pilot.press("slash", *"WEBSITE")
        await lists(pilot, "blog", "shop")
        await press(pilot, "enter", shows="2 with `WEBSITE`")
        await press(pilot, "slash", *"/nothing", shows="no CR")
        await lists(pilot)
        await pilot.press("escape")
        await until(pilot, lambda text: len(names(text)) == 3)


async def test_chosen_cr_stays_chosen_when_rows_change() -> None:
    operator = FakeOperator(*CRS)
    async with opened(operator) as pilot:
        await pilot.press("end")
        operator.says(*CRS, cr("a", namespace="a"), cr("z", namespace="z"))
        await until(pilot, lambda text: "5 CRs" in text)
        await pilot.press("r")
        await acted(pilot, operator, "reconcile", *SHOP)


async def test_only_rows_that_fit_are_shown_and_the_chosen_one_is_among_them() -> None:
    async with opened(FakeOperator(*(cr(f"n{number:05}") for number in range(5_000)))) as pilot:
        await until(pilot, lambda text: "n00000" in text)
        assert "n00000" not in await press(pilot, "end", shows="n04999")
        await press(pilot, "home", shows="n00000")


async def test_pause_asks_for_the_reason_and_escape_pauses_nothing() -> None:
    operator = FakeOperator(cr("shop"))
    async with opened(operator) as pilot:
        await press(pilot, "p", shows="Pause Website prod/shop")
        await pilot.press(*"moving", "escape")
        await until(pilot, lambda text: "Pause Website prod/shop" not in text)
        assert operator.acts() == []
        await press(pilot, "p", shows="Pause Website prod/shop")
        await press(pilot, *"--x y", "enter", shows="done")
        assert operator.acts() == [["pause", *SHOP, "--because=--x y"]]


async def test_p_resumes_a_paused_cr() -> None:
    operator = FakeOperator(cr("shop", "paused", pause={"by": "me"}))
    async with opened(operator) as pilot:
        await pilot.press("p")
        await acted(pilot, operator, "resume", *SHOP)


async def test_stop_asks_and_names_the_run() -> None:
    operator = FakeOperator(CRS[1])
    async with opened(operator) as pilot:
        question = "Stop run 4711 of Website prod/shop?"
        await press(pilot, "x", shows=question)
        await pilot.press("n")
        await until(pilot, lambda text: question not in text)
        assert operator.acts() == []
        await press(pilot, "x", shows=question)
        await press(pilot, "y", shows="done")
        assert operator.acts() == [["stop", *SHOP, "--run=4711"]]


async def test_stop_of_a_cr_without_a_run_only_reports_that() -> None:
    operator = FakeOperator(cr("shop"))
    async with opened(operator) as pilot:
        await pilot.press("x")
        await until(pilot, lambda text: "Website prod/shop: no run to stop" in text)
        assert operator.acts() == []


async def test_refused_action_shows_the_error_of_the_command() -> None:
    refused = CommandOutput(1, [], ["engine of a test", f"error: not [allowed] {HOSTILE}"])
    operator = FakeOperator(cr("shop"), answers={"reconcile": refused})
    async with opened(operator) as pilot:
        await pilot.press("r")
        text = await until(pilot, lambda text: "error: not [allowed]" in text)
        assert "title" not in text


async def test_keys_do_nothing_without_a_cr() -> None:
    operator = FakeOperator()
    async with opened(operator) as pilot:
        await press(pilot, "enter", "r", "p", "x", "l", shows="no CR")
        assert operator.asked == []


async def test_cr_opens_with_its_runs_and_a_run_with_timeline_and_output() -> None:
    answers = {
        "status": CommandOutput(0, ["Website prod/shop", "  state   \x1b[0;31mfailed\x1b[0m"], []),
        "runs": CommandOutput(0, ["RUN    AGE", "4711…  8s", "4710   9s", "", "HANDLER  AGE"], []),
        "logs": CommandOutput(0, ["TASK [\x1b[0;32mwait\x1b[0m]"], []),
    }
    operator = FakeOperator(cr("shop"), answers=answers)
    async with opened(operator) as pilot:
        await pilot.press("enter")
        text = await until(pilot, lambda text: "4711" in text)
        assert "state   failed" in text
        assert pilot.app.screen.query_one(OptionList).option_count == 2
        await pilot.press("enter")
        assert "run 4711" in await until(pilot, lambda text: "TASK [wait]" in text)
        run = "--run=4711"
        # The screen below goes on to ask for the status and the list of runs.
        asked = [words for words in operator.asked if run in words]
        assert asked == [["runs", *SHOP, run, "--timeline"], ["logs", *SHOP, run]]
        await press(pilot, "escape", "escape", shows="sorted by")


async def test_runs_whose_ids_are_cut_alike_are_all_listed() -> None:
    answers = {"runs": CommandOutput(0, ["RUN  AGE", "47…  8s", "47…  9s"], [])}
    async with opened(FakeOperator(cr("shop"), answers=answers)) as pilot:
        await pilot.press("enter")
        await until(pilot, lambda text: text.count("47…") == 2)


async def test_log_is_followed_and_escape_leads_back() -> None:
    operator = FakeOperator(cr("shop"), answers={"logs": CommandOutput(0, [HOSTILE], [])})
    async with opened(operator) as pilot:
        await pilot.press("l")
        assert "log of Website prod/shop" in await until(pilot, lambda text: HARMLESS in text)
        assert operator.asked == [["logs", *SHOP, "--follow"]]
        await press(pilot, "escape", shows="sorted by")


async def test_text_of_crs_is_neither_markup_nor_does_it_steer_the_terminal() -> None:
    answers = {
        "status": CommandOutput(0, [HOSTILE], []),
        "runs": CommandOutput(0, ["RUN  AGE", f"4711  {HOSTILE}"], []),
        "reconcile": CommandOutput(0, [HOSTILE], []),
    }
    operator = FakeOperator(cr("shop", "running", task=HOSTILE, run=HOSTILE), answers=answers)
    async with opened(operator) as pilot:
        await until(pilot, lambda text: HARMLESS in text)
        await press(pilot, "x", shows="Stop run [red]a[/]")
        await pilot.press("n")
        await until(pilot, lambda text: "Stop run [red]a" not in text)
        await pilot.press("enter")
        text = await until(pilot, lambda text: text.count(HARMLESS) == 2)
        assert not [each for each in text if not each.isprintable() and each != "\n"]
        await pilot.press("r")
        await until(pilot, lambda text: text.count("[@click=app.quit]b[/]") == 3)


async def test_lost_engine_has_a_banner_until_one_answers_again() -> None:
    operator = FakeOperator(*CRS)
    async with opened(operator) as pilot:
        operator.is_lost(f"the engine ended {HOSTILE}")
        text = await until(
            pilot, lambda text: "No engine answers, trying again: the engine" in text
        )
        assert names(text) == ["accounts", "blog", "shop"]
        operator.says(*CRS[:1])
        await until(pilot, lambda text: "No engine answers" not in text)
        await lists(pilot, "blog")


async def test_help_names_the_keys_and_q_quits() -> None:
    async with opened(FakeOperator()) as pilot:
        text = await press(pilot, "question_mark", shows="open the CR")
        for key in ("Enter", "Esc", "/", "s", "l", "r", "p", "x", "q"):
            assert f" {key} " in text
        await pilot.press("escape")
        await until(pilot, lambda text: "open the CR" not in text)
        await pilot.press("q")
        await until(pilot, lambda _: not pilot.app.is_running)


@pytest.mark.parametrize("width", [20, 40, 300])
async def test_screen_of_any_width_shows_the_cr(width: int) -> None:
    app = TopApp(FakeOperator(*CRS))
    async with app.run_test(size=(width, 12)) as pilot:
        await until(pilot, lambda text: "shop" in text)
