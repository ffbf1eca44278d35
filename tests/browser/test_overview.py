"""The overview and kinds over time in a busy world: their numbers are the world's."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from rolecall.extensions.console.page.trends import TrendSpan
from tests.browser.conftest import NewVisitor, of_worlds
from tests.browser.looking import Looking
from tests.browser.seeded_runs import SeededRun
from tests.browser.seeded_world import SeededWorld
from tests.browser.served_worlds import ServedWorld


@pytest.fixture
def visitor(visitor_in_time: Looking) -> Looking:
    return visitor_in_time


def number_of(text: str) -> int:
    return int(text.replace(",", ""))


def test_failures_come_first_with_each_reason_in_full(visitor: Looking, busy: ServedWorld) -> None:
    page = visitor.page
    assert page.locator("main section").first.get_attribute("id") == "failures"
    of_last = {run.key: run for run in busy.world.ended}
    reasons = Counter(
        (run.key.gvk.kind, run.message)
        for key, run in of_last.items()
        if busy.world.state_of[key] == "failed"
    )
    shown = page.locator("#failures ol > li")
    expect(shown).to_have_count(len(reasons))
    found = {}
    for each in shown.all():
        kind = each.locator("h3 a").inner_text().split()[-1]
        found[kind, each.locator("pre").inner_text()] = number_of(
            each.locator(".badge").inner_text()
        )
    assert found == reasons


def test_kinds_are_counted_as_they_are(visitor: Looking, busy: ServedWorld) -> None:
    page = visitor.page
    heads = [head.lower() for head in page.locator("#kinds thead th").all_inner_texts()]
    for row in page.locator("#kinds tbody tr").all():
        cells = dict(zip(heads, row.locator("th, td").all_inner_texts(), strict=True))
        kind = cells["kind"].split()[0]
        for state in ("running", "waiting", "failed", "paused", "ready"):
            assert number_of(cells[state]) == busy.world.states[kind, state], (kind, state)


@pytest.mark.parametrize("span", TrendSpan)
def test_tables_of_charts_add_up_to_the_runs_of_the_world(
    visitor: Looking, busy: ServedWorld, span: TrendSpan
) -> None:
    page = visitor.go("/?span=day" if span is TrendSpan.DAY else "/")
    for chart in page.locator(".charts svg").all():
        assert len(chart.get_attribute("aria-label") or "") > 20
    page.locator("#trend-numbers summary").click()
    runs, failed = sums_of(page, "Runs"), sums_of(page, "Failed")
    # The first interval begins with a whole minute, or quarter of an hour.
    step = timedelta(seconds=span.interval_s)
    begins = busy.world.clock.now() - span.intervals * step
    fewest, most = (ended_since(busy.world, begins + each) for each in (2 * step, -step))
    assert len(fewest) <= runs <= len(most)
    bad = [sum(run.outcome == "failed" for run in each) for each in (fewest, most)]
    assert bad[0] <= failed <= bad[1]


def ended_since(world: SeededWorld, moment: datetime) -> list[SeededRun]:
    return [run for run in world.ended if run.ended is not None and run.ended > moment]


def sums_of(page: Page, column: str) -> int:
    heads = [each.lower() for each in page.locator("#trend-numbers thead th").all_inner_texts()]
    place = heads.index(column.lower()) + 1
    cells = page.locator(f"#trend-numbers tbody tr > :nth-child({place})").all_inner_texts()
    return sum(number_of(each) for each in cells if re.fullmatch("[0-9,]+", each))


def test_two_clicks_show_which_kind_got_slower_since_noon(visitor: Looking) -> None:
    page = visitor.page
    clicks = [
        page.get_by_role("link", name="Which kind got slower?"),
        page.get_by_role("link", name="Noon"),
    ]
    for each in clicks:
        each.click()
    answer = page.locator(".answer")
    expect(answer).to_contain_text("Database got 3")
    expect(answer).to_contain_text("No other kind changed")
    assert len(clicks) == 2


@of_worlds("all-well")
def test_world_without_failures_says_so(served_one: ServedWorld, new_visitor: NewVisitor) -> None:
    page = new_visitor(served_one).go("/")
    expect(page.locator("#failures")).to_contain_text("No object fails")


@of_worlds("storm")
def test_storm_is_one_reason(served_one: ServedWorld, new_visitor: NewVisitor) -> None:
    """Hundreds of objects are one entry, which names how many, also of those that are tried again."""
    page, states = new_visitor(served_one).go("/"), served_one.world.states
    expect(page.locator("#failures ol > li")).to_have_count(1)
    failed, retried = states["Website", "failed"], states["Website", "waiting"]
    assert (failed, retried) == (450, 50)
    expect(page.locator("#failures")).to_contain_text("500 objects fail. Of these, 50 wait")
    expect(page.locator("#failures li .badge").first).to_have_text("500")
    expect(page.locator("#failures pre")).to_contain_text("exceeded quota: team-quota")
    cells = page.locator("#kinds tbody tr", has_text="Website").locator(".count").all_inner_texts()
    assert cells == [str(retried), str(failed)]
    page.get_by_role("link", name="All that fail").click()
    expect(page.locator("#found")).to_have_text("500 objects")


def test_slow_tasks_and_noisy_causes_are_those_of_the_world(
    visitor: Looking, busy: ServedWorld
) -> None:
    expect(visitor.page.locator("#slowest").locator("tbody tr").first).to_contain_text(
        "Wait for the migration"
    )
    causes = visitor.page.locator("#noisiest")
    expect(causes.locator("tbody tr").first).to_contain_text("period")
    assert causes.locator("tbody tr").count() == 8
