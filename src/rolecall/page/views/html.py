"""HTML as Python values: all text is escaped unless it was made here.

`el("p", "a < b", id="x")`; names of attributes are Python's, `_` stands for `-`, and a trailing one
is dropped (`class_`). What steers the direction of writing is taken out, as terminals do not get it
either. Rejected: a template language. Ours has a hundred lines, no file of its own to be found at
run time, and nothing that could forget to escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rolecall.plain_text import plain

_EMPTY = frozenset({"br", "hr", "img", "input", "link", "meta"})


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
    """Text of several lines, for `pre`; harmless, and with its line ends."""
    return Html("\n".join(escape(_line(line)) for line in text.split("\n")))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(_spaced(child))
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
    text = value if isinstance(value, Html) else plain(str(value))
    return f' {name}="{escape(text)}"'


def _line(line: str) -> str:
    """`plain` would join what is indented."""
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + plain(line.replace(" ", "\u00a0")).replace("\u00a0", " ")
