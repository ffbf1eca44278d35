"""Each view in a browser: it shows what it is for, reads well for all users, and fits a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewReader
from tests.browser.looking import PHONE, SCHEMES, Looking, Town

VIEWS = ("overview", "objects", "object", "failed-object", "run", "task", "output", "compared")


@pytest.fixture(scope="module")
def views(town: Town) -> dict[str, str]:
    """The path of each; a shop that did well twice, and one that failed."""
    bakery = town.open("bakery", goods="bread", counted=3)
    robbed = town.open("robbed", is_robbed=True)
    town.wait_for("bakery", "Successful")
    town.wait_for("robbed", "Failure")
    return {
        "overview": "/",
        "objects": "/crs",
        "object": bakery,
        "failed-object": robbed,
    }


def paths_of_runs(reader: Looking, views: dict[str, str]) -> dict[str, str]:
    """Those that only a page shows."""
    page = reader.go(views["object"])
    run = page.locator("#runs tbody th a").first.get_attribute("href") or ""
    task = reader.go(run).locator("#tasks tbody th a").first.get_attribute("href") or ""
    last = run.rpartition("/runs/")[2]
    compared = f"{views['object']}/compare/{last}/{last}"
    return {**views, "run": run, "task": task, "output": f"{run}/stdout", "compared": compared}


@pytest.mark.parametrize("view", VIEWS)
def test_view_is_readable_for_all_users(
    town: Town, views: dict[str, str], new_reader: NewReader, view: str
) -> None:
    """axe finds nothing, light and dark, wide and narrow, and nothing is wider than a phone."""
    reader = new_reader(town.port, storage_state=town.session)
    path = paths_of_runs(reader, views)[view]
    page = reader.go(path)
    expect(page.locator("h1")).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert reader.violations(f"{view}, {scheme}") == []
        reader.picture(f"{view}-{scheme}")
    page.set_viewport_size(PHONE)
    assert reader.overflow() <= 0
    assert reader.violations(f"{view}, phone") == []
    reader.picture(f"{view}-phone")


def test_overview_counts_and_leads_to_what_it_counts(
    reader: Looking, views: dict[str, str]
) -> None:
    page = reader.go("/")
    page.get_by_role("row", name=re.compile("^Shop")).locator("a.failed").click()
    expect(page.locator("#found")).to_have_text(re.compile(r"^\d+ objects?$"))
    expect(page.get_by_role("link", name=re.compile("robbed"))).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("bakery"))).to_have_count(0)


def test_objects_are_found_by_keys_alone(reader: Looking, views: dict[str, str]) -> None:
    page = reader.go("/")
    page.keyboard.press("/")
    page.wait_for_url("**/crs")
    page.keyboard.press("/")
    page.keyboard.type("bak")
    page.keyboard.press("Enter")
    page.wait_for_url("**name=bak**")
    expect(page.locator("#results tbody:not([aria-hidden]) tr")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("bakery")


def test_object_shows_its_runs_and_what_they_made(reader: Looking, views: dict[str, str]) -> None:
    page = reader.go(views["object"])
    expect(page.locator("#now .badge")).to_have_text("ready")
    expect(page.locator("#owned")).to_contain_text("ConfigMap bakery-sale")
    expect(page.locator("#changes")).to_contain_text("Nothing in its spec")
    page = reader.go(views["failed-object"])
    expect(page.locator("#runs")).to_contain_text("the till is empty")


def test_run_shows_failed_tasks_first_and_opens_their_results(
    reader: Looking, views: dict[str, str]
) -> None:
    page = reader.go(views["failed-object"])
    # Not its newest one, which may be in flight.
    page.locator("#runs tbody tr", has_text="the till is empty").locator("th a").first.click()
    first = page.locator("#tasks tbody:not([aria-hidden]) tr").first
    expect(first).to_contain_text("check the till")
    first.get_by_role("link").click()
    expect(page.locator("tr.opened")).to_contain_text("the till is empty")
    page.get_by_role("link", name="in the order of time").click()
    expect(page.locator("#tasks tbody:not([aria-hidden]) tr").first).to_contain_text("for sale")


def test_times_are_in_the_readers_zone(
    town: Town, views: dict[str, str], new_reader: NewReader
) -> None:
    shown = []
    for zone in ("Asia/Tokyo", "America/New_York"):
        reader = new_reader(town.port, storage_state=town.session, timezone_id=zone)
        page = reader.go(views["object"])
        expect(page.locator("#runs time[title]").first).to_be_visible()
        shown.append(page.locator("#runs time").first.inner_text())
    assert shown[0] != shown[1]


def test_everything_reads_without_script(
    town: Town, views: dict[str, str], new_reader: NewReader
) -> None:
    reader = new_reader(town.port, storage_state=town.session, java_script_enabled=False)
    page = reader.go(views["object"])
    expect(page.locator("#runs time").first).to_contain_text("UTC")
    page.locator("#runs tbody th a").first.click()
    page.locator("#tasks tbody th a").first.click()
    expect(page.locator(".details")).to_be_visible()
