"""What all pages have around them."""

from __future__ import annotations

from dataclasses import dataclass

from rolecall.page.views.html import Child, Html, el, inner

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


def page(title: str, layout: PageLayout, *content: Child, live: str = "") -> str:
    """A whole page; `live`: the stream that tells its script of changes."""
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
        _header(layout),
        el("p", layout.notice, class_="notice", role="status") if layout.notice else None,
        el("main", el("h1", title), *content, id="content", tabindex="-1"),
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
    return el("dl", *((el("dt", name), el("dd", value)) for name, value in told), class_="facts")


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


def _header(layout: PageLayout) -> Html:
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
            el("a", "Objects", href="/crs"),
            aria_label="Main",
        ),
        el("div", who, class_="reader"),
    )
