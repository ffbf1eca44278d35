"""Reads what a view made as a browser would, and lists what in it could do harm."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

_EMPTY = {"br", "hr", "img", "input", "link", "meta"}
_LINKS = {"href", "src", "action", "formaction", "poster", "srcset", "xlink:href"}
_OURS = {
    "html",
    "head",
    "meta",
    "title",
    "link",
    "script",
    "body",
    "header",
    "nav",
    "main",
    "section",
    "ul",
    "li",
    "tfoot",
    "svg",
    "rect",
} | {
    *("div", "p", "code", "h1", "h2", "h3", "a", "span", "small", "time", "dl", "dt", "dd", "pre"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "form", "input", "label"),
    *("select", "option", "button", "details", "summary", "progress", "strong", "ol", "ul", "li"),
    *("figure", "figcaption", "svg", "rect", "path"),
    *("select", "option", "button", "details", "summary", "ul", "li", "b", "svg", "rect"),
    *("select", "option", "button", "details", "summary", "ul", "li", "progress"),
    *("svg", "path", "rect", "text"),
    *("select", "option", "button", "details", "summary"),
    *("ol", "ul", "li", "article", "noscript"),
}


class Seen(HTMLParser):
    """What there is in a page; `harm` is empty where all of it is ours."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.harm: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        html.encode()  # raises for halves of a character
        self.harm += [f"character {ord(each):#x}" for each in set(html) if _steers(each)]
        self.feed(html)
        self.close()
        if self._open:
            self.harm.append(f"not closed: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _OURS:
            self.harm.append(f"element {tag}")
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.harm.append(f"{tag} has an attribute twice: {names}")
        for name, value in attrs:
            self._attribute(tag, name, value or "")
        reported = dict(attrs)
        if tag == "script" and not (reported.get("src") or "").startswith("/static/"):
            self.harm.append("a script that is not ours")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.harm.append(f"{tag} is closed where it is not open")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        self.harm += [f"text {ord(each):#x}" for each in set(data) if _steers(each)]

    def handle_comment(self, data: str) -> None:
        self.harm.append(f"comment {data[:20]}")

    def handle_pi(self, data: str) -> None:
        self.harm.append(f"instruction {data[:20]}")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        is_refresh = (tag, name, value) == ("meta", "http-equiv", "refresh")  # of this page
        if name.startswith("on") or (name in ("style", "srcdoc", "http-equiv") and not is_refresh):
            self.harm.append(f"{tag} {name}")
        if any(_steers(each) for each in value):
            self.harm.append(f"{tag} {name} steers")
        if tag == "meta" and name == "content" and "url" in value.lower():
            self.harm.append(f"{tag} leads to {value[:40]}")
        if name in _LINKS:
            self.links.append(value)
            is_ours = value.startswith(("/", "#")) and not value.startswith(("//", "/\\"))
            if not is_ours and value != "data:,":
                self.harm.append(f"{tag} leads to {value[:40]}")


def _steers(each: str) -> bool:
    return unicodedata.category(each) in ("Cc", "Cf", "Cs") and each not in "\n\t"
