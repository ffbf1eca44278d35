"""Runs of seeded worlds: the timeline of one, two side by side, and what changes while one looks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from rolecall.extensions.console.page import places
from rolecall.history import read_run, write_run
from rolecall.workqueue import Key
from tests.browser.conftest import NewReader, NewVisitor
from tests.browser.looking import Looking
from tests.browser.seeded_roles import WEBSITE
from tests.browser.served_worlds import ServedWorld, served_world
from tests.browser.world_views import slower_database
from tests.browser.worlds import LONG_RUN, TASKS, world

ROWS = "table.rows > tbody:not([aria-hidden]) > tr:not(.opened)"
# Each of so many places, evenly: the task at the middle of the screen, when it has come.
STOPS = 40
SCROLLS = """async (stops) => {
  const found = [], frame = () => new Promise(requestAnimationFrame);
  const middle = () => document.elementFromPoint(200, innerHeight / 2)?.closest("tr[aria-rowindex]");
  const whole = document.documentElement.scrollHeight - innerHeight;
  for (let stop = 1; stop < stops; stop += 1) {
    scrollTo(0, whole * stop / stops);
    await frame();
    for (let tries = 0; tries < 100 && !middle(); tries += 1) {
      await new Promise(done => setTimeout(done, 20));
    }
    found.push(Number(middle()?.getAttribute("aria-rowindex")));
  }
  return found;
}"""


def test_all_tasks_of_a_long_timeline_appear_while_one_scrolls(
    many: ServedWorld, new_visitor: NewVisitor
) -> None:
    visitor = new_visitor(many)
    run = places.of_run(LONG_RUN, many.world.kept[LONG_RUN][-2])
    page = visitor.go(f"{run}?order=time")
    expect(page.locator("#found")).to_contain_text(f"{TASKS:,}")
    came = page.evaluate(SCROLLS, STOPS)
    wanted = [TASKS * stop / STOPS for stop in range(1, STOPS)]
    assert came == pytest.approx(wanted, abs=15)
    bars = page.locator(f"{ROWS} svg.bar")
    for bar in bars.all()[:20]:
        assert re.search(r"\d", bar.get_attribute("aria-label") or "")


def test_failed_run_shows_first_what_failed(many: ServedWorld, new_visitor: NewVisitor) -> None:
    page = new_visitor(many).go(places.of_run(LONG_RUN, many.world.kept[LONG_RUN][-1]))
    expect(page.locator("#run-facts")).to_contain_text("exceeded quota")
    expect(page.locator(ROWS).first).to_contain_text(f"step {TASKS - 1:04}")


def test_comparison_says_which_task_got_slower(busy: ServedWorld, new_visitor: NewVisitor) -> None:
    """The last runs of a database before and after noon."""
    key = slower_database(busy.world)
    page = new_visitor(busy).go(places.of_comparison(key, *busy.world.kept[key][-2:]))
    expect(page.locator(".difference")).to_contain_text("Wait for the migration")
    others = page.locator("#tasks tbody tr:not(.differs)")  # those that ended otherwise come first
    expect(others.first).to_contain_text("Wait for the migration")
    for bar in page.locator("#tasks svg.bar").all():
        assert bar.get_attribute("aria-label")


@pytest.fixture
def small(chromium: object, tmp_path: Path) -> ServedWorld:
    """A world of its own, for tests that change it."""
    return ServedWorld(world("all-well", tmp_path))


def test_views_follow_what_changes_and_find_the_server_again(
    tmp_path: Path, new_reader: NewReader, small: ServedWorld
) -> None:
    made, key = small.world, Key(WEBSITE.gvk, "blue", "website-00")
    (folder,) = made.root.glob(f"**/website-00/artifacts/{made.kept[key][-1]}")
    with served_world(made, is_local=False) as serving:
        reader: Looking = new_reader(serving.port, token="token-of-chief")
        page = reader.go("/")
        expect(page.locator("#failures")).to_contain_text("No object fails")

        def fail() -> None:
            failed = replace(read_run(folder), outcome="failed", reason="the till is empty")
            write_run(failed)
            made.last_runs.__init__(made.root)  # type: ignore[misc]

        serving.change(fail)
        expect(page.locator("#failures")).to_contain_text("the till is empty", timeout=30_000)
        port = serving.port
    expect(page.locator("#live")).to_contain_text("tries again", timeout=30_000)
    with served_world(made, is_local=False, port=port) as serving:
        serving.change(lambda: made.pauses(key, "anna", "she looks at it", made.clock.now()))
        expect(page.locator("#live")).to_have_text(re.compile(r"^$"), timeout=30_000)
        expect(page.locator("#kinds a.paused")).to_have_text("1", timeout=30_000)
