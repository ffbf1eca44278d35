"""What owners of objects and tasks write is shown as text, whatever it is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import Looking, Town

SCRIPT = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
ESCAPES = "\u001b[31mred\u001b]8;;http://evil.example\u0007link"
BIDI = "abc\u202edcba\u2066"
HARM = f'{SCRIPT}{ESCAPES}{BIDI}"><svg onload=window.harmed=1>'


@pytest.fixture(scope="module")
def hostile(town: Town) -> str:
    """The page of an object whose owner tries it all."""
    path = town.open("hostile", words=HARM, goods=HARM, is_robbed=True)
    town.wait_for("hostile", "Failure")
    return path


def assert_harmless(page: Page) -> None:
    assert page.evaluate("window.harmed") is None
    text = page.content()
    for sign in ("\u001b", "\u0007", "\u202e", "\u2066"):
        assert sign not in text
    assert (
        page.locator(
            "script:not([src]), img, svg:not([role]), [onerror], [onload], [style]"
        ).evaluate_all("all => all.filter(each => !each.closest('[aria-hidden]')).length")
        == 0
    )


def test_words_of_owners_and_tasks_stay_text(reader: Looking, hostile: str) -> None:
    page = reader.go(hostile)
    assert_harmless(page)
    page.locator("#runs tbody th a").first.click()
    assert_harmless(page)
    run = page.url
    page.locator("#tasks tbody").get_by_role("link", name="say what the owner wrote").click()
    expect(page.locator("tr.opened")).to_contain_text("<script>window.harmed")
    assert_harmless(page)
    reader.picture("hostile-task")
    page.goto(f"{run}/stdout")
    expect(page.locator("pre.output")).to_contain_text("onerror")
    assert_harmless(page)


def test_searched_words_stay_text(reader: Looking, hostile: str) -> None:
    page = reader.go("/crs")
    page.locator("#find-name").fill(HARM)
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_have_text("0 objects")
    assert_harmless(page)


def test_megabytes_of_output_are_cut_with_a_word_on_how_much(town: Town, reader: Looking) -> None:
    path = town.open("loud", letters=3_000_000)
    town.wait_for("loud", "Successful")
    page = reader.go(path)
    page.locator("#runs tbody th a").first.click()
    page.locator("#tasks tbody").get_by_role("link", name="print far too much").click()
    expect(page.locator("tr.opened")).to_contain_text("characters more")
    length = page.evaluate("document.documentElement.outerHTML.length")
    assert length < 1_000_000
    page.goto(f"{page.url}/stdout")
    expect(page.locator("pre.output")).to_contain_text(re.compile(r"\d (bytes|characters) more"))
