"""Text is text: nothing that a CR or a task says becomes markup, or turns the writing round."""

from __future__ import annotations

import pytest

from rolecall.extensions.console.page.views.html import Html, el, inner, verbatim

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)",
    "</pre><img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u202egnp.exe\u2066",
    "\x00\x08",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text: str) -> None:
    for made in (el("p", text), el("a", "x", title=text), el("pre", verbatim(text))):
        inside = made[made.index(">") :] if "title" not in made else made
        assert "<script" not in inside and "<img" not in inside
        assert "\x1b" not in made and "\u202e" not in made and "\x00" not in made
    assert '" onmouseover' not in el("a", "x", title=text)
    assert "' onfocus='" not in el("a", "x", title=text)


def test_element_has_its_children_in_order() -> None:
    made = el("p", "a < b", el("b", "c"), None, [el("i", "d"), "e"], class_="x", data_y="1")
    assert made == '<p class="x" data-y="1">a &lt; b<b>c</b><i>d</i>e</p>'


def test_attributes_that_are_not_meant_are_left_out() -> None:
    assert el("input", required=True, value=None, selected=False) == "<input required>"


def test_lines_and_what_they_are_indented_by_stay() -> None:
    assert verbatim("a:\n  - b\n\n  c") == "a:\n  - b\n\n  c"


def test_children_alone_are_html() -> None:
    assert isinstance(inner(("a", el("b", "c"))), Html)


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "/\\evil.example",
        "file:///etc/passwd",
        "evil.example",
        "",
    ],
)
def test_link_that_leads_nowhere_good_is_left_out(link: str) -> None:
    assert el("a", "x", href=link) == "<a>x</a>"
    assert el("form", "x", action=link) == "<form>x</form>"


@pytest.mark.parametrize("link", ["/crs?a=b", "#content", "https://example.com/", "http://x"])
def test_link_to_this_page_or_to_the_web_stays(link: str) -> None:
    assert el("a", "x", href=link) == f'<a href="{link}">x</a>'


def test_colours_of_a_play_are_dropped_and_its_columns_stay() -> None:
    said = "\x1b[0;32mok\x1b[0m:  [localhost]   =>\tx\r\n\x1b[1;31mfatal\x1b[0m\x1b[2J"
    assert verbatim(said) == "ok:  [localhost]   =&gt;\tx\nfatal"


def test_half_of_a_character_can_be_sent() -> None:
    for made in (el("p", "a\ud800b"), verbatim("a\ud800b"), el("a", "x", title="a\ud800b")):
        assert "a\ufffdb" in made.encode().decode()


def test_long_text_is_cut_with_a_word_on_how_much() -> None:
    assert el("p", "x" * 2000) == f"<p>{'x' * 2000}</p>"
    assert el("p", "x" * 2001).endswith("x … and 1 characters more</p>")
