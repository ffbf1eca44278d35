"""What differs between two runs, and what changes fast while one looks."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.looking import Looking, Town

ROWS = "tbody:not([aria-hidden]) tr:not(.opened)"
EDITS, A_SECOND = 100, 20


def test_two_runs_are_compared_task_by_task(town: Town, reader: Looking) -> None:
    path = town.open("compared", goods="bread")
    town.wait_for("compared", "Successful")
    town.change("compared", is_robbed=True)
    town.wait_for("compared", "Failure")
    page = reader.go(path)
    expect(page.locator("#changes")).to_contain_text("is_robbed")
    page.get_by_role("link", name="with the run before").last.click()
    expect(page.locator("#then")).to_contain_text("succeeded")
    expect(page.locator("#now")).to_contain_text("failed")
    till = page.locator("#tasks tr.differs", has_text="check the till")
    expect(till.locator(".badge")).to_have_text(["ok", "failed"])
    expect(page.locator("#tasks tbody tr").first).to_have_class("differs")
    assert reader.violations("compared with a failed one") == []
    reader.picture("compared-differs")


def test_last_of_many_fast_edits_is_what_one_sees(town: Town, reader: Looking) -> None:
    """Twenty edits a second, for five seconds; no row is missed, and none is there twice."""
    names = [f"fast-{number}" for number in range(5)]
    for name in names:
        town.open(name)
        town.wait_for(name, "Successful")
    page = reader.go("/crs?name=fast-")
    rows = page.locator(f"#results {ROWS}")
    expect(rows).to_have_count(5)
    began = time.monotonic()
    for number in range(EDITS):
        town.change(names[number % 5], goods=f"goods {number}")
        time.sleep(max(0.0, began + (number + 1) / A_SECOND - time.monotonic()))
        assert rows.count() in (0, 5)  # none while rows are exchanged
    expect(rows.locator(".badge.good")).to_have_count(5, timeout=120_000)
    assert sorted(rows.locator("th").all_inner_texts()) == [f"Shop {name}" for name in names]
    page.get_by_role("link", name="fast-4").click()
    expect(page.locator("#now")).to_contain_text(re.compile(r"Generation\s*21"))


def test_run_is_followed_from_its_first_task_to_its_end(
    town: Town, reader: Looking, tmp_path: Path
) -> None:
    """CI keeps the series of pictures."""
    delivery = tmp_path / "delivery"
    path = town.open("harbour", counted=3, delivery=str(delivery), goods="fish")
    page = reader.go(path)
    page.set_viewport_size({"width": 900, "height": 640})
    page.locator("#now a", has_text="wait for the delivery").click()
    expect(page.locator(f"#tasks {ROWS}", has_text="wait for the delivery")).to_contain_text(
        "running"
    )
    reader.picture("live-1-runs")
    delivery.touch()
    expect(page.locator("#run-facts")).to_contain_text("succeeded", timeout=60_000)
    expect(page.locator(f"#tasks {ROWS}", has_text="check the till")).to_contain_text("ok")
    reader.picture("live-2-ended")
    town.change("harbour", is_robbed=True)
    town.wait_for("harbour", "Failure")
    page.goto(page.url.partition("/runs/")[0])
    page.locator("#runs tbody th a").first.click()
    page.locator("#tasks tbody").get_by_role("link", name="check the till").click()
    expect(page.locator("tr.opened")).to_contain_text("the till is empty")
    reader.picture("live-3-fails")
