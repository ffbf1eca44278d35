"""Text is text: nothing that a CR or a task says becomes markup, or turns the writing round."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.views import ENVIRONMENT

CONSOLE = Path(views.__file__).parents[1]
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


TEXT, VALUE, VERBATIM = (
    "<p>{{ x }}</p>",
    '<a title="{{ x|value }}">x</a>',
    "<pre>{{ x|verbatim }}</pre>",
)


def made(template: str, text: str) -> str:
    return ENVIRONMENT.from_string(template).render(x=text)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("template", [TEXT, VALUE, VERBATIM])
def test_text_stays_text(template: str, text: str) -> None:
    html = made(template, text)
    assert html.count("<") == 2 and html.count(">") == 2
    assert html.count('"') == template.count('"') and "'" not in html
    assert "\x1b" not in html and "\u202e" not in html and "\x00" not in html


def test_nothing_is_printed_for_what_is_not_there() -> None:
    assert ENVIRONMENT.from_string("<p>{{ x }}</p>").render(x=None) == "<p></p>"


def test_lines_and_what_they_are_indented_by_stay() -> None:
    assert made(VERBATIM, "a:\n  - b\n\n  c") == "<pre>a:\n  - b\n\n  c</pre>"


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
def test_link_that_leads_nowhere_good_leads_to_its_own_page(link: str) -> None:
    assert made('<a href="{{ x|link }}">x</a>', link) == '<a href="#">x</a>'


@pytest.mark.parametrize("link", ["/crs?a=b", "#content", "https://example.com/", "http://x"])
def test_link_to_this_page_or_to_the_web_stays(link: str) -> None:
    assert made('<a href="{{ x|link }}">x</a>', link) == f'<a href="{link}">x</a>'


def test_colours_of_a_play_are_dropped_and_its_columns_stay() -> None:
    said = "\x1b[0;32mok\x1b[0m:  [localhost]   =>\tx\r\n\x1b[1;31mfatal\x1b[0m\x1b[2J"
    assert made(VERBATIM, said) == "<pre>ok:  [localhost]   =&gt;\tx\nfatal</pre>"


@pytest.mark.parametrize("template", [TEXT, VALUE, VERBATIM])
def test_half_of_a_character_can_be_sent(template: str) -> None:
    assert "a\ufffdb" in made(template, "a\ud800b").encode().decode()


def test_long_text_is_cut_with_a_word_on_how_much() -> None:
    assert made(TEXT, "x" * 2000) == f"<p>{'x' * 2000}</p>"
    assert made(TEXT, "x" * 2001).endswith("x … and 1 characters more</p>")


# What an address is put together from, and where one is expected.
_ADDRESS = re.compile(r'\b(?:href|src|action|data-fragment|data-live|data-rows|data-key)="([^"]*)"')


@pytest.mark.parametrize("template", sorted(CONSOLE.rglob("*.html")), ids=lambda path: path.stem)
def test_template_quotes_attributes_checks_links_and_escapes_all(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"=\s*{{", text.replace('="{{', "")), "an attribute without quotes"
    assert "|safe" not in text and "autoescape" not in text
    for address in _ADDRESS.findall(text):
        assert "{{" not in address or re.match(r"{{ [^}]*\|link }}", address), address
