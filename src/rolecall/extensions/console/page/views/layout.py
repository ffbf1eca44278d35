"""What all pages have around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.extensions.console.page.views.html import Child, Html, el, inner

_LONG = 40  # a fact that gets a line of its own
_LONGEST_TIME = 40


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Who reads, and what the page was made at."""

    reader_name: str = ""  # empty: nobody has logged in
    is_local: bool = False
    form_token: str = ""
    position: str = ""  # in the feed
    notice: str = ""  # what a reader must know of this replica
    static: str = ""  # where the style sheet and the script are


def page(
    title: str,
    layout: PageLayout,
    *content: Child,
    live: str = "",
    above: Sequence[tuple[str, str]] = (),
) -> str:
    """A whole page; `live`: the stream that tells its script of changes; `above`: where it belongs,
    as names and addresses.
    """
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{title} · rolecall"),
        el("link", rel="stylesheet", href=f"{layout.static}/page.css"),
        el("link", rel="icon", href="data:,"),
        el("script", type="module", src=f"{layout.static}/page.js"),
    )
    body = el(
        "body",
        el("a", "Skip to the content", class_="skip", href="#content"),
        _header(layout, title),
        el("p", layout.notice, class_="notice", role="status") if layout.notice else None,
        el("main", _above(above), el("h1", title), *content, id="content", tabindex="-1"),
        el("p", "", id="told", class_="told", role="status", aria_live="polite"),
        data_live=live or None,
        data_position=layout.position or None,
        data_form_token=layout.form_token or None,
    )
    return "<!doctype html>\n" + el("html", head, body, lang="en")


def time_of(text: str) -> Html:
    """A moment: in UTC, until the script shows it in the reader's zone."""
    if not text:
        return el("span", "-")
    text = text[:_LONGEST_TIME]
    return el("time", text.replace("T", " ").replace("Z", " UTC"), datetime=text)


def badge(state: str) -> Html:
    """A state, by word and colour."""
    return el("span", state or "-", class_=f"badge {_CLASS.get(state, 'other')}")


def facts(*pairs: tuple[str, Child]) -> Html:
    """Names and what they are; what is empty is left out."""
    told = [(name, value) for name, value in pairs if value not in (None, "")]
    return el("dl", *(_fact(name, value) for name, value in told), class_="facts")


def section(title: str, *content: Child, id_: str) -> Html:
    heading = f"{id_}-title"
    return el("section", el("h2", title, id=heading), *content, id=id_, aria_labelledby=heading)


def table(caption: str, columns: tuple[str, ...], rows: Child, **attributes: str) -> Html:
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in columns)))
    return el(
        "div",
        el(
            "table",
            el("caption", caption, class_="unseen"),
            head,
            el("tbody", rows),
            **attributes,
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=f"{caption}: table",  # the section around it has the same name
    )


def button(
    layout: PageLayout, action: str, label: str, *, asks: str = "", more: Child = None
) -> Html:
    """A change, as a form that works without the script."""
    return el(
        "form",
        el("input", type="hidden", name="form_token", value=layout.form_token),
        more,
        el("button", label, type="submit", data_asks=asks or None),
        method="post",
        action=action,
        class_="action",
    )


_CLASS = {
    "ready": "good",
    "succeeded": "good",
    "ok": "good",
    "True": "good",
    "running": "busy",
    "waiting": "waits",
    "changed": "waits",
    "failed": "bad",
    "unreachable": "bad",
    "lost": "bad",
    "paused": "rests",
    "cancelled": "rests",
    "skipped": "rests",
    "ignored": "waits",
}


def _fact(name: str, value: Child) -> Html:
    is_long = isinstance(value, str) and not isinstance(value, Html) and len(value) > _LONG
    return el("div", el("dt", name), el("dd", value), class_="long" if is_long else None)


def _above(places: Sequence[tuple[str, str]]) -> Html | None:
    if not places:
        return None
    links = (el("a", name, href=address) for name, address in places)
    return el("nav", *links, class_="crumbs", aria_label="Where this is")


def _header(layout: PageLayout, title: str) -> Html:
    def link(name: str, address: str) -> Html:
        return el("a", name, href=address, aria_current="page" if name == title else None)

    who: Child = None
    if layout.reader_name:
        leave = None
        if not layout.is_local:
            leave = button(layout, "/logout", "Log out")
        who = inner((el("span", layout.reader_name, class_="who"), leave))
    return el(
        "header",
        el(
            "nav",
            el("a", "rolecall", href="/", class_="brand"),
            link("Overview", "/"),
            link("Objects", "/crs"),
            aria_label="Main",
        ),
        el("div", who, class_="reader"),
    )
