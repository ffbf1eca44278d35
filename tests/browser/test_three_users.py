"""Three users of a seeded world: each sees what Kubernetes lets him see, in numbers as well."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewReader
from tests.browser.looking import Looking
from tests.browser.seeded_world import SeededWorld
from tests.browser.served_worlds import ServedWorld
from tests.browser.world_views import views_of, views_of_cr

FIRST = "blue"  # the namespace whose objects the clerk may list


@pytest.fixture
def seen_by(busy_for_users: ServedWorld, new_reader: NewReader) -> dict[str, Looking]:
    """Each user with a browser of his own."""
    port = busy_for_users.port
    return {
        user: new_reader(port, token=f"token-of-{user}") for user in ("chief", "clerk", "passer-by")
    }


def found_in(page: Page) -> int:
    text = page.locator("#found").inner_text()
    return int(re.sub(r"[^0-9].*", "", text.replace(",", "")))


def held(world: SeededWorld, namespace: str = "", state: str = "") -> int:
    return sum(
        namespace in ("", key.namespace) and state in ("", its)
        for key, its in world.state_of.items()
    )


def test_lists_count_what_each_user_may_list(
    seen_by: dict[str, Looking], busy_for_users: ServedWorld
) -> None:
    world = busy_for_users.world
    for state in ("", "failed"):
        counts = {
            user: found_in(reader.go(f"/crs?state={state}")) for user, reader in seen_by.items()
        }
        assert counts == {
            "chief": held(world, "", state),
            "clerk": held(world, FIRST, state),
            "passer-by": 0,
        }


def test_clerk_reads_no_content_of_runs_anywhere(
    seen_by: dict[str, Looking], busy_for_users: ServedWorld
) -> None:
    """No task, no cause, no reason (finding 18): neither as text nor in an attribute."""
    world, clerk = busy_for_users.world, seen_by["clerk"].page
    views = views_of(world, FIRST)
    content = words_of_runs(world)
    for view, path in views.items():
        text = (seen_by["clerk"].go(path), clerk.content())[1]
        assert [word for word in content if word in text] == [], view
        if "/runs/" in path or "/compare/" in path:
            expect(clerk.locator("h1")).to_contain_text("You may not read")


def words_of_runs(world: SeededWorld) -> list[str]:
    tasks = {task.name for role in world.roles for task in role.tasks}
    messages = {run.message[:40] for run in world.ended if run.message}
    return sorted(tasks | messages | {"drift of", "main.yml", "roles/"})


def test_passer_by_learns_of_no_object(
    seen_by: dict[str, Looking], busy_for_users: ServedWorld
) -> None:
    world, reader = busy_for_users.world, seen_by["passer-by"]
    names = {key.name for key in world.state_of} | {key.namespace for key in world.state_of}
    for view in ("/", "/crs"):
        text = reader.go(view).locator("main").inner_text()
        assert [name for name in sorted(names) if re.search(rf"\b{name}\b", text)] == [], view
    key = min(world.kept)
    for path in views_of_cr(world, key).values():
        expect(reader.go(path).locator("h1")).to_contain_text("that you may see")


def test_bad_tokens_of_others_lock_no_user_out(
    busy_for_users: ServedWorld, new_reader: NewReader
) -> None:
    """Finding 20: thirty failures behind one address."""
    guesser = new_reader(busy_for_users.port)
    for number in range(30):
        body: dict[str, str | float | bool] = {"token": f"guess-{number}", "back": "/"}
        guesser.page.request.post(f"http://127.0.0.1:{busy_for_users.port}/login", form=body)
    page = new_reader(busy_for_users.port).go("/")
    page.get_by_label("Token of your user").fill("token-of-clerk")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("h1")).to_have_text("Overview")
