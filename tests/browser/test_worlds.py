"""Each view on each seeded world: readable for all users, no wider than a phone, and harmless."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewVisitor, of_worlds
from tests.browser.looking import PHONE, SCHEMES, WIDE, Looking
from tests.browser.served_worlds import ServedWorld
from tests.browser.world_views import views_of

# Views that look different in each world.
VARYING = ("overview", "fleet", "object", "run")
# What may never come from words of owners and roles.
ACTIVE = "script:not([src]), iframe, object, embed, img, base, meta[http-equiv], [style], style"
# The script gives the rows that it did not load their height.
OUTSIDE_OF_SPACE = """all => all.filter(each => !each.closest('[aria-hidden]'))
  .map(each => each.outerHTML)"""
ADDRESSES = """all => all.map(each => new URL(
  each.getAttribute('href') ?? each.getAttribute('action') ?? '', location).href)"""
SIGNS = ("\u001b", "\u0007", "\u0000", "\u202e", "\u2066", "\u200f")


@of_worlds("busy", "hostile")
def test_each_view_is_readable_for_all_users(
    served_one: ServedWorld, new_visitor: NewVisitor
) -> None:
    """axe finds nothing in light, dark and on a phone; nothing is wider than its screen."""
    visitor, found = new_visitor(served_one), list[str]()
    for view, path in views_of(served_one.world).items():
        page = visitor.go(path)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{each} ({view}, {scheme})" for each in visitor.violations()]
        found += on_a_phone(visitor, view)
        page.set_viewport_size(WIDE)
    assert found == []


@of_worlds("all-well", "one-failing-kind", "storm", "many")
def test_views_that_show_the_state_of_a_world_fit_a_phone(
    served_one: ServedWorld, new_visitor: NewVisitor
) -> None:
    visitor, found = new_visitor(served_one, viewport=PHONE), list[str]()
    for view, path in views_of(served_one.world).items():
        if view in VARYING:
            visitor.go(path)
            found += on_a_phone(visitor, view)
    assert found == []


def on_a_phone(visitor: Looking, view: str) -> list[str]:
    visitor.page.emulate_media(color_scheme="light")
    visitor.page.set_viewport_size(PHONE)
    found = [f"{each} ({view}, phone)" for each in visitor.violations()]
    if (pixels := visitor.overflow()) > 0:
        found.append(f"{pixels} pixels too wide ({view}, phone)")
    return found


@of_worlds("hostile")
@pytest.mark.parametrize("scripts", [True, False])
def test_words_of_owners_and_roles_stay_words(
    served_one: ServedWorld, new_visitor: NewVisitor, *, scripts: bool
) -> None:
    """The fixture asserts that no other host was asked, and that the browser refused nothing."""
    visitor = new_visitor(served_one, java_script_enabled=scripts)
    for view, path in views_of(served_one.world).items():
        page = visitor.go(path)
        expect(page.locator("h1")).to_be_visible()
        assert page.locator(ACTIVE).evaluate_all(OUTSIDE_OF_SPACE) == [], view
        handlers = "//*[@*[starts-with(name(), 'on')]]"
        assert page.locator(f"xpath={handlers}").count() == 0, view
        links = page.locator("a, form").evaluate_all(ADDRESSES) if scripts else []
        here = (f"http://127.0.0.1:{served_one.port}/",)
        assert [each for each in links if not each.startswith(here)] == [], view
        text = page.content()
        assert [sign for sign in SIGNS if sign in text] == [], view
        if scripts:
            assert page.evaluate("window.harmed") is None, view
