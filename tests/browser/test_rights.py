"""Three users of one cluster in the browser: each sees, and may do, what Kubernetes lets him."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from rolecall_dev.localcluster import Cluster
from tests.browser.conftest import NewEngine, NewReader
from tests.browser.looking import GROUP, SCHEMES, Looking, Town

RULES = {
    "chief": [("get,list,patch", "shops"), ("get", "shops/log")],
    "clerk": [("get,list", "shops")],
    "passer-by": [],
}


@pytest.fixture(scope="module")
def guarded(cluster: Cluster, new_namespace: Callable[[], str], new_engine: NewEngine) -> Town:
    """Users of the cluster log in."""
    namespace = new_namespace()
    engine = new_engine(namespace, "--page-bind-address=127.0.0.1:0")
    town = Town(cluster, namespace, engine)
    town.open("bank")
    town.wait_for("bank", "Successful")
    return town


@pytest.fixture(scope="module")
def tokens(guarded: Town) -> dict[str, str]:
    """Of each user; all rights are in the town alone."""
    cluster, namespace = guarded.cluster, guarded.namespace
    for user, rules in RULES.items():
        cluster.kubectl("create", "serviceaccount", user, "-n", namespace)
        for number, (verbs, resource) in enumerate(rules):
            plural, slash, part = resource.partition("/")
            whole = f"--resource={plural}.{GROUP}{slash}{part}"
            name = f"{user}-{number}"
            cluster.kubectl("create", "role", name, "-n", namespace, f"--verb={verbs}", whole)
            who = f"--serviceaccount={namespace}:{user}"
            cluster.kubectl("create", "rolebinding", name, "-n", namespace, f"--role={name}", who)
    return {
        user: cluster.kubectl("create", "token", user, "-n", namespace).strip() for user in RULES
    }


@pytest.fixture
def bank(guarded: Town) -> str:
    return f"/cr/{GROUP}/v1/Shop/{guarded.namespace}/bank"


def log_in(reader: Looking, path: str, token: str) -> Page:
    """By the form, which leads on to where one wanted to go."""
    page = reader.go(path)
    page.get_by_label("Token of your user").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"**{path}")
    return page


def test_chief_pauses_and_resumes_in_his_name(
    guarded: Town, tokens: dict[str, str], bank: str, new_reader: NewReader
) -> None:
    reader = new_reader(guarded.port)
    page = log_in(reader, bank, tokens["chief"])
    pause = page.get_by_role("link", name="Pause")
    pause.click()
    dialog, reason = page.get_by_role("dialog"), page.get_by_label("Why it is paused")
    expect(reason).to_be_focused()
    expect(dialog).to_contain_text(f"the right to patch shops.{GROUP}")
    assert reader.violations("question before a pause") == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(pause).to_be_focused()
    page.keyboard.press("Enter")
    reason.fill("we count the money")
    reader.picture("question-before-a-pause")
    dialog.get_by_role("button", name="Pause").click()
    expect(page.locator("#now .badge")).to_have_text("paused")
    shops = f"/apis/{GROUP}/v1/namespaces/{guarded.namespace}/shops"
    reported = guarded.cluster.api.get(f"{shops}/bank")["metadata"]["annotations"]
    assert reported["rolecall.dev/paused-by"].endswith(":chief")
    assert reported["rolecall.dev/paused-because"] == "we count the money"
    reader.picture("paused")
    page.get_by_role("link", name="Resume").click()
    dialog.get_by_role("button", name="Resume").click()
    expect(page.locator("#now .badge")).to_have_text("ready")


def test_clerk_sees_objects_but_neither_their_runs_nor_buttons(
    guarded: Town, tokens: dict[str, str], bank: str, new_reader: NewReader
) -> None:
    reader = new_reader(guarded.port)
    page = log_in(reader, bank, tokens["clerk"])
    expect(page.locator("#owned")).to_contain_text("which you may not read")
    expect(page.get_by_role("link", name="Reconcile now")).to_have_count(0)
    expect(page.locator("#now")).to_contain_text("which you do not have")
    page.locator("#runs tbody th a").first.click()
    expect(page.locator("h1")).to_contain_text("You may not read")
    assert reader.violations("refused") == []
    reader.picture("refused")


def test_user_without_rights_sees_nothing(
    guarded: Town, tokens: dict[str, str], bank: str, new_reader: NewReader
) -> None:
    reader = new_reader(guarded.port)
    page = log_in(reader, "/crs", tokens["passer-by"])
    expect(page.locator("#found")).to_have_text("0 objects")
    for path in (bank, bank + "-that-is-not-there"):
        page = reader.go(path)
        expect(page.locator("h1")).to_contain_text("that you may see")
    reader.go("/").get_by_role("button", name="Log out").click()
    expect(page.locator("h1")).to_have_text("Log in")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert reader.violations(f"log-in, {scheme}") == []
        reader.picture(f"log-in-{scheme}")
