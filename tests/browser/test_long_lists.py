"""Ten thousand objects and five thousand tasks: only what is seen is there, wherever one scrolls to."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from rolecall.extensions.console.page import places
from tests.browser.conftest import NewVisitor
from tests.browser.looking import Looking
from tests.browser.served_worlds import ServedWorld
from tests.browser.worlds import LONG_RUN, MANY, TASKS
from tests.fixtures.eventually import eventually

# A hundred and twenty rows at most, with what is in them, and the page around them.
MOST_NODES = 3000
ROWS = "table.rows > tbody:not([aria-hidden]) > tr:not(.opened)"
LISTS = ("objects", "tasks")


@pytest.fixture
def visitor(many: ServedWorld, new_visitor: NewVisitor) -> Looking:
    return new_visitor(many)


@pytest.fixture
def long_run(many: ServedWorld) -> str:
    """The path of a good run."""
    return places.of_run(LONG_RUN, many.world.kept[LONG_RUN][-2])


def nodes(page: Page) -> int:
    count: int = page.evaluate("document.querySelectorAll('*').length")
    return count


@pytest.mark.parametrize("which", LISTS)
def test_list_shows_each_of_its_rows_at_its_place(
    visitor: Looking, long_run: str, which: str
) -> None:
    of_tasks, of_objects = (
        (f"{long_run}?order=time", TASKS, "step {:04}"),
        ("/crs", MANY, "site-{:05}"),
    )
    path, total, name = of_tasks if which == "tasks" else of_objects
    page = visitor.go(path)
    expect(page.locator("#found")).to_contain_text(f"{total:,}")
    table = page.locator("table.rows")
    expect(table).to_have_attribute("aria-rowcount", str(total + 1))
    for part in (0.5, 1.0, 0.25):
        page.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
        number = min(total - 1, int(total * part))
        row = page.locator(ROWS, has_text=re.compile(name.format(number)))
        expect(row).to_be_in_viewport()
        # A table's rows count from one, and its head is one of them.
        expect(row).to_have_attribute("aria-rowindex", str(number + 2))
        assert nodes(page) < MOST_NODES
    visitor.picture(f"long-list-{which}")
    assert visitor.violations() == []


def test_list_scrolls_without_a_frame_that_waits(visitor: Looking) -> None:
    """No frame of forty screens takes as long as one notices a stop, a quarter of a second."""
    page = visitor.go("/crs")
    expect(page.locator(ROWS).first).to_be_visible()
    slowest = page.evaluate(
        """async () => {
          let slowest = 0, before = await new Promise(requestAnimationFrame);
          for (let number = 0; number < 40; number += 1) {
            scrollBy(0, innerHeight);
            const now = await new Promise(requestAnimationFrame);
            slowest = Math.max(slowest, now - before);
            before = now;
          }
          return slowest;
        }"""
    )
    assert slowest < 250
    expect(page.locator(ROWS).first).to_be_visible()
    assert nodes(page) < MOST_NODES


def test_timeline_scrolls_without_a_task_of_the_browser_that_is_long(
    visitor: Looking, long_run: str
) -> None:
    """None takes a tenth of a second of its thread's time, which other programs do not add to."""
    page = visitor.go(f"{long_run}?order=time")
    expect(page.locator(ROWS).first).to_be_visible()
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["toplevel"])
    for _ in range(20):
        page.evaluate("scrollBy(0, 2 * innerHeight)")
        page.wait_for_timeout(50)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    longest_us = max(
        each.get("tdur", 0)
        for each in events
        if each["name"].endswith("RunTask") and (each["pid"], each["tid"]) in threads
    )
    assert 0 < longest_us < 100_000


def test_keys_lead_through_rows_that_were_not_there(visitor: Looking) -> None:
    page = visitor.go("/crs")
    expect(page.locator("table.rows")).to_have_attribute("aria-rowcount", str(MANY + 1))

    def next_number() -> int:
        page.keyboard.press("j")
        return int(page.locator(":focus").inner_text()[-5:])

    # The first window has a hundred; a key that is pressed before the next one came leads nowhere.
    eventually(lambda: next_number() >= 140)
    expect(page.locator(":focus")).to_be_in_viewport()


def test_object_that_is_far_away_is_found_by_its_name(visitor: Looking) -> None:
    """A browser finds only what is there; `/` finds everything."""
    page = visitor.go("/crs")
    page.keyboard.press("/")
    page.keyboard.type("site-098")
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_have_text("100 objects")


def test_mark_of_the_strip_leads_to_its_task(visitor: Looking, long_run: str) -> None:
    page = visitor.go(f"{long_run}?order=time")
    mark = page.locator("#time .strip a").nth(150)
    number = int(mark.get_attribute("data-row") or "0")
    address = mark.get_attribute("href") or ""
    assert number > 1000
    mark.click()
    expect(page.locator(":focus")).to_have_text(f"step {number:04}")
    expect(page.locator(":focus")).to_be_in_viewport()
    # The same by its address, for another tab and for a browser without scripts.
    page = visitor.go(address)
    expect(page.locator("tr:target")).to_contain_text(f"step {number:04}")
    expect(page.locator("tr:target")).to_be_in_viewport()


def test_opened_task_stays_open_and_others_stay_at_their_places(
    visitor: Looking, long_run: str
) -> None:
    page = visitor.go(f"{long_run}?order=time")
    page.get_by_role("link", name="step 0003").click()
    expect(page.locator("tr.opened")).to_have_count(1)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator(ROWS, has_text="step 4999")).to_be_in_viewport()
