"""One object of a busy world: its runs, the tree of what it owns, actions, YAML, plan."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from rolecall.extensions.console.page import places
from rolecall.workqueue import Key
from tests.browser.conftest import NewReader, NewVisitor
from tests.browser.looking import Looking
from tests.browser.seeded_roles import OLD_TASK, WEBSITE
from tests.browser.served_worlds import ServedWorld
from tests.browser.worlds import PULL

FAILED = Key(WEBSITE.gvk, "north", "website-007")  # one of its two pods finds no image
WELL = Key(WEBSITE.gvk, "green", "website-001")

IS_IN_DIALOG_OR_NOWHERE = """[document.activeElement].every(
  each => each === document.body || each.closest('dialog') !== null)"""


@pytest.fixture
def visitor(busy: ServedWorld, new_visitor: NewVisitor) -> Looking:
    return new_visitor(busy)


def test_strip_of_runs_leads_to_each_of_them(visitor: Looking, busy: ServedWorld) -> None:
    page = visitor.go(places.of_cr(FAILED))
    links = page.locator("#history svg a")
    runs = busy.world.kept[FAILED]
    assert [each.get_attribute("href") for each in links.all()] == [
        places.of_run(FAILED, run) for run in runs
    ]
    names = [each.get_attribute("aria-label") or "" for each in links.all()]
    assert ["failed" in each for each in names][-4:] == [True] * 4
    links.last.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#run-facts")).to_contain_text("ImagePullBackOff")


def test_tree_leads_down_to_the_pod_that_does_not_run(visitor: Looking) -> None:
    page = visitor.go(places.of_cr(FAILED))
    tree = page.locator("#owned .tree")
    deployment = tree.locator("li", has_text="Deployment website-007").first
    expect(deployment).to_contain_text("1 of 2 ready")
    pod = deployment.locator("li", has_text=re.compile(r"^\s*Pod ")).first  # worst first
    expect(pod).to_contain_text("ImagePullBackOff")
    expect(pod).to_be_visible()


def test_object_of_a_task_that_is_gone_is_marked_as_orphan(visitor: Looking) -> None:
    page = visitor.go(places.of_cr(WELL))
    old = page.locator("#owned li", has_text=f"{WELL.name}{OLD_TASK.called}")
    orphans = page.locator("#owned li .badge", has_text="orphan")
    expect(old).to_be_visible()
    expect(orphans).to_have_count(1)
    expect(old.get_by_text("orphan", exact=True)).to_be_visible()


def test_action_asks_once_in_a_dialog_for_the_keyboard(visitor: Looking, busy: ServedWorld) -> None:
    page = visitor.go(places.of_cr(WELL))
    native = list[str]()
    page.on("dialog", lambda dialog: native.append(dialog.message))
    link = page.get_by_role("link", name="Reconcile now")
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("as soon as a worker is free")
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    for _ in range(6):  # the focus goes round in the dialog, or to the browser's own controls
        page.keyboard.press("Tab")
        assert page.evaluate(IS_IN_DIALOG_OR_NOWHERE)
    assert visitor.violations("dialog of an action") == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(link).to_be_focused()
    before = list(busy.world.engine.asked)
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Reconcile now").click()
    expect(dialog).to_be_hidden()
    assert busy.world.engine.asked[len(before) :] == [(str(WELL), "asked for by a person")]
    assert native == []


def test_pause_has_a_reason_which_the_cluster_gets(visitor: Looking, busy: ServedWorld) -> None:
    page = visitor.go(places.of_cr(WELL))
    page.get_by_role("link", name="Pause").click()
    page.get_by_label("Why it is paused").fill("we count the money")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    place, patch = busy.world.cluster.patches[-1]
    assert place == f"{WELL.namespace}/{WELL.name}"
    assert "we count the money" in str(patch)


def test_actions_work_without_script(busy: ServedWorld, new_visitor: NewVisitor) -> None:
    page = new_visitor(busy, java_script_enabled=False).go(places.of_cr(WELL))
    before = len(busy.world.engine.asked)
    page.get_by_role("link", name="Reconcile now").click()
    page.get_by_role("button", name="Reconcile now").click()
    expect(page.locator("h1")).to_contain_text(WELL.name)
    assert len(busy.world.engine.asked) == before + 1


def test_yaml_names_who_wrote_each_line(visitor: Looking) -> None:
    page = visitor.go(places.of_object(WELL, "apps", "v1", "Deployment", "green", WELL.name))
    lines = page.locator(".written > li")
    expect(lines.filter(has_text="image:").first).to_contain_text("Deploy the web server")
    expect(lines.filter(has_text="night shift").first).to_contain_text("kubectl-edit")
    page.get_by_role("link", name="Only what tasks wrote").click()
    expect(page.locator("main")).not_to_contain_text("night shift")
    page.get_by_role("link", name=re.compile("Deploy the web server")).first.click()
    expect(page.locator("main")).to_contain_text("Deploy the web server")


def test_plan_is_a_diff_that_comes_while_one_waits(visitor: Looking) -> None:
    page = visitor.go(places.of_plan(WELL))
    page.get_by_role("button", name="Plan a run now").click()
    expect(page.locator("#plan")).to_contain_text("planning")
    objects = page.locator("article.planned")
    expect(objects).to_have_count(3, timeout=30_000)
    expect(objects.locator("h3 .badge")).to_have_text(["change", "create", "delete"])
    changed = objects.first.locator(".diff li")
    assert colours(page, ".diff .new") != colours(page, ".diff .old")
    expect(changed.filter(has_text=re.compile(r"^\+.*replicas: 3"))).to_have_count(1)
    expect(changed.filter(has_text=re.compile(r"^-.*replicas: 2"))).to_have_count(1)
    assert visitor.violations("plan with a diff") == []
    visitor.picture("plan-light", whole=True)


def colours(page: Page, selector: str) -> str:
    first = page.locator(selector).first
    return str(first.evaluate("each => getComputedStyle(each).backgroundColor"))


def test_user_without_rights_is_shown_no_button(
    busy_for_users: ServedWorld, new_reader: NewReader
) -> None:
    clerk = new_reader(busy_for_users.port, token="token-of-clerk")
    key = Key(WEBSITE.gvk, "blue", "website-000")
    page = clerk.go(places.of_cr(key))
    for name in ("Reconcile now", "Pause", "Stop the run"):
        expect(page.get_by_role("link", name=name)).to_have_count(0)
    expect(page.locator(".actions")).to_contain_text("which you do not have")
    assert PULL.message not in page.content()
