"""HTML as Python values: all text is escaped unless it was made here.

`el("p", "a < b", id="x")`; names of attributes are Python's, `_` stands for `-`, and a trailing one
is dropped (`class_`). What steers the direction of writing, and terminals with their colours, is
taken out. Text is cut where nobody would read on, with a word on how much there was; a link that
does not lead to this page or to the web is left out. Rejected: a template language. Ours has a
hundred lines, no file of its own to be found at run time, and nothing that could forget to escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rolecall.extensions.console.page.shown_tasks import cut
from rolecall.plain_text import harmless, plain

_EMPTY = frozenset({"br", "hr", "img", "input", "link", "meta"})
_LINKS = frozenset({"href", "src", "action"})
_NO_ICON = "data:,"
_LONGEST_TEXT, _LONGEST_VALUE = 2_000, 20_000


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Iterable["Child"] | None


def el(name: str, /, *children: Child, **attributes: str | bool | int | None) -> Html:
    """An element with its children; attributes that are None or False are left out."""
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{told}>")
    return Html(f"<{name}{told}>{inner(children)}</{name}>")


def inner(children: Iterable[Child]) -> Html:
    """Children alone, one after the other."""
    return Html("".join(map(_child, children)))


def verbatim(text: str) -> Html:
    """Text of several lines, for `pre`; harmless, and as it was laid out."""
    return Html("\n".join(escape(harmless(line)) for line in text.split("\n")))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(_spaced(cut(child, _LONGEST_TEXT)))
    return inner(child)


def _spaced(text: str) -> str:
    """Spaces at its ends are between it and its neighbours."""
    first, last = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{first}{plain(text)}{last if text.strip() else ''}"


def _attribute(key: str, value: str | bool | int | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = plain(str(value)[:_LONGEST_VALUE])
    if name in _LINKS and not _leads_well(text):
        return ""
    return f' {name}="{escape(text)}"'


def _leads_well(link: str) -> bool:
    """To this page, a place on it, or the web: never to a script."""
    if link.startswith(("//", "/\\")):
        return False
    return link == _NO_ICON or link.startswith(("/", "#", "http://", "https://"))
