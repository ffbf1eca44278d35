"""What a reader of the page sees and may do is what Kubernetes lets him, and nothing more."""

from __future__ import annotations

import re

from rolecall.kube import Client
from tests.e2e.conftest import MEMCACHED_CRD
from tests.e2e.page.conftest import WITH_PAGE, Shown
from tests.e2e.page.reading import Browser, token_of
from tests.e2e.skipping import MEMCACHED
from tests.fixtures.eventually import eventually

SHARED_ENGINE, KINDS = WITH_PAGE, [MEMCACHED_CRD]


def wait_for_run(shown: Shown) -> None:
    eventually(lambda: shown.engine.runs() >= 2)


def run_of(browser: Browser, shown: Shown) -> str:
    """The newest run's page."""

    def found() -> str:
        _, text = browser.asks(shown.path())
        match = re.search(r'href="(/cr/[^"]*/runs/\d+)"', text)
        return match[1] if match else ""

    return eventually(found)


async def test_three_users_see_what_kubectl_would_show_them(shown: Shown) -> None:
    wait_for_run(shown)
    chief, reader, stranger = (shown.user(name) for name in ("chief", "reader", "stranger"))
    for user, seen in ((chief, True), (reader, True), (stranger, False)):
        code, text = user.asks("/crs")
        assert code == 200
        assert (f">{shown.namespace}<" in text) is seen
        assert shown.other not in text
        assert ("1 object" in text) is seen and ("0 objects" in text) is not seen
        overview = user.asks("/")[1]
        assert shown.other not in overview
        assert user.asks(shown.path())[0] == (200 if seen else 404)
        assert user.asks(shown.path(shown.other))[0] == 404
        assert user.asks(shown.path(name="absent"))[0] == (200 if seen else 404)


async def test_logs_take_a_right_of_their_own(shown: Shown) -> None:
    wait_for_run(shown)
    chief, reader = shown.user("chief"), shown.user("reader")
    run = run_of(chief, shown)
    for path in (run, f"{run}/stdout", f"{run}/facts", f"{run}/events", f"{run}/tasks/1"):
        code, text = reader.asks(path)
        assert code == 403, path
        assert "memcacheds/log" in text
    assert chief.asks(run)[0] == 200
    assert "You may not" not in chief.asks(shown.path())[1]
    assert "which you may not read" in reader.asks(shown.path())[1]


async def test_actions_are_shown_and_done_for_whom_they_succeed(api: Client, shown: Shown) -> None:
    chief, reader = shown.user("chief"), shown.user("reader")
    assert "Reconcile now" in chief.asks(shown.path())[1]
    assert "Reconcile now" not in reader.asks(shown.path())[1]
    for action in ("reconcile", "pause", "resume"):
        assert reader.does(f"{shown.path()}/{action}")[0] == 403

    code, _ = chief.does(f"{shown.path()}/pause", because="we look at it")
    assert code == 200
    paused = (await api.get(MEMCACHED, shown.namespace, "x"))["metadata"]["annotations"]
    assert paused["rolecall.dev/paused"] == "true"
    assert paused["rolecall.dev/paused-by"].endswith(":chief")
    assert paused["rolecall.dev/paused-because"] == "we look at it"
    eventually(lambda: "Resume" in chief.asks(shown.path())[1])
    assert chief.does(f"{shown.path()}/resume")[0] == 200
    resumed = (await api.get(MEMCACHED, shown.namespace, "x"))["metadata"].get("annotations", {})
    assert "rolecall.dev/paused" not in resumed

    wait_for_run(shown)
    before = shown.engine.runs()
    assert chief.does(f"{shown.path()}/reconcile")[0] == 200
    eventually(lambda: shown.engine.runs() > before)


async def test_stranger_gets_in_without_a_token(shown: Shown) -> None:
    stranger = Browser(shown.port)
    for path in ("/", "/crs", shown.path(), "/crs?token=x"):
        code, text = stranger.asks(path)
        assert (code, "Token of your user" in text) == (200, True), path
        assert shown.namespace not in text.replace(shown.path(), "")
    assert stranger.asks("/events")[0] == 401
    assert stranger.asks("/", headers={"X-Fragment": "1"})[0] == 401
    code, text = stranger.asks("/login", {"token": "made-up"})
    assert (code, "Invalid token" in text) == (401, True)
    assert Browser(shown.port, token="made-up").asks("/")[1].count("Token of your user") == 1


async def test_login_leads_back_to_the_address_that_was_sent(shown: Shown) -> None:
    token = token_of(shown.cluster, shown.namespace, "reader")
    browser = Browser(shown.port)
    assert f'value="{shown.path()}"' in browser.asks(shown.path())[1]
    code, text = browser.asks("/login", {"token": token, "back": shown.path()})
    assert code == 200 and "Conditions" in text
    assert browser.asks("/logout", {"form_token": browser.form_token()})[0] == 200
    assert "Token of your user" in browser.asks("/")[1]
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example"):
        away = Browser(shown.port)
        assert "Overview" in away.asks("/login", {"token": token, "back": elsewhere})[1]


async def test_change_that_another_site_sends_is_refused(shown: Shown) -> None:
    token = token_of(shown.cluster, shown.namespace, "chief")
    browser = Browser(shown.port)
    browser.asks("/login", {"token": token, "back": "/"})
    form = {"form_token": browser.form_token()}
    pause = f"{shown.path()}/pause"
    assert browser.asks(pause, {"form_token": "guessed"})[0] == 403
    assert browser.asks(pause, form, {"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert browser.asks(pause, form, {"Origin": "https://evil.example"})[0] == 403
    assert "Resume" not in browser.asks(shown.path())[1]


async def test_invalid_token_is_slowed_down_and_no_other_one(shown: Shown) -> None:
    browser = Browser(shown.port)
    assert browser.asks("/login", {"token": "a-guess"})[0] == 401
    codes = [browser.asks("/login", {"token": "expired"})[0] for _ in range(14)]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert int(browser.answer["Retry-After"]) >= 1


async def test_answers_forbid_what_a_page_does_not_need(shown: Shown) -> None:
    browser = Browser(shown.port)
    for path in ("/login", "/nowhere", "/static/x/page.js"):
        browser.asks(path)
        policy = browser.answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert browser.answer["X-Content-Type-Options"] == "nosniff"
        assert browser.answer["Cache-Control"] == "no-store"
        assert browser.answer["Server"] == "rolecall"
