"""The list of objects: its order, filters and groups are links, whose numbers are the world's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from rolecall.workqueue import Key
from tests.browser.conftest import NewVisitor
from tests.browser.looking import Looking
from tests.browser.seeded_world import SeededWorld
from tests.browser.served_worlds import ServedWorld

ROWS = "table.objects > tbody:not([aria-hidden]) > tr"
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
UNITS_S = {"s": 1, "min": 60, "h": 3600}


@pytest.fixture
def visit(busy: ServedWorld, new_visitor: NewVisitor) -> Callable[[bool], Looking]:
    return lambda scripts: new_visitor(busy, java_script_enabled=scripts)


def number_of(text: str) -> int:
    return int(text.split(maxsplit=1)[0].replace(",", ""))


def names(page: Page) -> list[str]:
    return page.locator(f"{ROWS} > th a").all_inner_texts()


def column(page: Page, head: str) -> list[str]:
    heads = page.locator("table.objects thead th").all_inner_texts()
    return page.locator(f"{ROWS} > :nth-child({heads.index(head) + 1})").all_inner_texts()


def seconds(text: str) -> float:
    words = text.split()
    return sum(float(n) * UNITS_S[unit] for n, unit in zip(words[::2], words[1::2], strict=True))


def labels_of(world: SeededWorld, key: Key) -> dict[str, str]:
    labels: dict[str, str] = world.cluster.objects[key.gvk.kind, key.namespace, key.name][
        "metadata"
    ]["labels"]
    return labels


def assert_address_shows_the_same(page: Page, other: Looking) -> None:
    """To one who gets it by mail."""
    path = page.url.partition(f":{other.port}")[2]
    there, parts = other.go(path), ("#found", "thead", f"{ROWS} > th, table.groups tr")
    for part in parts:
        assert there.locator(part).all_inner_texts() == page.locator(part).all_inner_texts(), path


@SCRIPTS
def test_failed_objects_are_first_and_heads_sort(
    visit: Callable[[bool], Looking], busy: ServedWorld, *, scripts: bool
) -> None:
    page, other = visit(scripts).go("/crs"), visit(scripts)
    failed = Counter(busy.world.state_of.values())["failed"]
    states = column(page, "State")
    assert states[:failed] == ["failed"] * failed and states[failed] == "running"
    page.get_by_role("link", name="Last run").click()
    expect(page.locator("th", has_text="Last run")).to_have_attribute("aria-sort", "descending")
    took = [seconds(each) for each in column(page, "Last run")]
    assert took[0] > 60 and took == sorted(took, reverse=True)
    assert_address_shows_the_same(page, other)
    page.get_by_role("link", name="Object", exact=True).click()
    expect(page.locator("th", has_text="Object")).to_have_attribute("aria-sort", "ascending")
    shown = [each.split()[1] for each in names(page)]
    assert shown == sorted(shown) and shown[0] == "backup-000"


@SCRIPTS
def test_filters_of_the_form_are_in_the_address_and_each_can_be_removed(
    visit: Callable[[bool], Looking], busy: ServedWorld, *, scripts: bool
) -> None:
    page, states = visit(scripts).go("/crs"), busy.world.state_of
    page.locator("select[name=kind]").select_option("Website")
    page.locator("select[name=state]").select_option("failed")
    page.get_by_label("Namespace", exact=True).fill("blue")
    page.get_by_role("button", name="Find").click()
    expect(page).to_have_url(re.compile("kind=Website&state=failed&namespace=blue"))
    websites = {key: state for key, state in states.items() if key.gvk.kind == "Website"}
    blue = [key for key, state in websites.items() if (state, key.namespace) == ("failed", "blue")]
    assert sorted(names(page)) == sorted(f"Website {key.name}" for key in blue)
    assert_address_shows_the_same(page, visit(scripts))
    page.get_by_role("link", name="Remove namespace: blue").click()
    expect(page.locator("#found")).to_have_text(f"{Counter(websites.values())['failed']} objects")
    page.get_by_text("More filters").click()
    page.get_by_label("Reason of the last failure").fill("exceeded quota")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".chips")).to_contain_text("reason: exceeded quota")
    of_last = {run.key: run.message for run in busy.world.ended}
    over = [key for key, state in websites.items() if state == "failed" and "quota" in of_last[key]]
    expect(page.locator("#found")).to_have_text(f"{len(over)} objects")
    page.get_by_role("link", name="Remove all").click()
    expect(page.locator("#found")).to_have_text("2,000 objects")


def groups_of(page: Page) -> Iterator[tuple[str, Locator]]:
    for row in page.locator("table.groups tbody tr").all():
        yield row.locator("th").inner_text(), row.locator("td.number")


def wanted(world: SeededWorld, group: str) -> Counter[str]:
    """How many objects each group has."""
    if group == "namespace":
        return Counter(key.namespace for key in world.state_of)
    if group == "tier":
        return Counter(labels_of(world, key)["tier"] for key in world.state_of)
    of_last = {run.key: run.message for run in world.ended}
    reasons = (of_last[key][:20] if of_last[key] else "none: did not fail" for key in of_last)
    return Counter(reasons)


@SCRIPTS
@pytest.mark.parametrize("group", ["namespace", "tier", "reason"])
def test_groups_add_up_and_their_numbers_lead_to_as_many(
    visit: Callable[[bool], Looking], busy: ServedWorld, group: str, *, scripts: bool
) -> None:
    page, other = visit(scripts).go("/crs"), visit(scripts)
    if group == "tier":
        page.get_by_text("More filters").click()
        page.locator("select[name=group]").select_option("label")
        page.get_by_label("Key of that label").fill(group)
        page.get_by_role("button", name="Find").click()
    else:
        page.get_by_role("link", name=group, exact=True).click()
    assert number_of(page.locator("#found").inner_text()) == len(busy.world.state_of)
    found = {name: number_of(cells.first.inner_text()) for name, cells in groups_of(page)}
    expected = wanted(busy.world, group)
    assert sorted(found.values()) == sorted(expected.values())
    assert group == "reason" or found == expected
    for _, cells in [*groups_of(page), ("All", page.locator("tfoot td.number"))]:
        total, *of_states = map(number_of, cells.all_inner_texts())
        assert sum(of_states) == total
    assert number_of(page.locator("tfoot td.number").first.inner_text()) == len(busy.world.state_of)
    failed = [number_of(cells.nth(1).inner_text()) for _, cells in groups_of(page)]
    assert failed == sorted(failed, reverse=True), "failed first"
    assert_address_shows_the_same(page, other)
    for link in page.locator("table.groups tbody tr").first.locator("td.number a").all():
        text, address = link.inner_text(), link.get_attribute("href") or ""
        expect(other.go(address).locator("#found")).to_have_text(f"{text} objects")


def test_object_whose_label_changes_moves_to_its_group_while_one_looks(
    visit: Callable[[bool], Looking], busy: ServedWorld
) -> None:
    visitor = visit(True)
    visitor.page.clock.install()
    page = visitor.go("/crs?group=label:tier")
    gold = wanted(busy.world, "tier")["gold"]
    row = page.locator("table.groups tbody tr", has_text="gold")
    expect(row.locator("td.number").first).to_have_text(str(gold))
    key = next(key for key in busy.world.state_of if labels_of(busy.world, key)["tier"] != "gold")
    labels = labels_of(busy.world, key)
    before = labels["tier"]
    labels["tier"] = "gold"
    try:
        for _ in range(20):  # what was read serves for some seconds
            page.clock.fast_forward(10_000)
            page.wait_for_timeout(500)
            if row.locator("td.number").first.inner_text() != str(gold):
                break
        expect(row.locator("td.number").first).to_have_text(str(gold + 1))
    finally:
        labels["tier"] = before
