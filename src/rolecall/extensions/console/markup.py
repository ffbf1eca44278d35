"""HTML from templates, for the page and for files that commands write.

Each text that a template prints is escaped; control characters for the writing direction and for
terminal colours are removed. Long text is cut, with a note on its full size. A link that leads neither
to the page itself nor to the web becomes plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rolecall.plain_text import harmless, plain

_LONGEST_TEXT, _LONGEST_VALUE = 2_000, 20_000
_NOTHING: Mapping[str, Any] = {}


def environment(
    folder: Path,
    *,
    values: Mapping[str, Any] = _NOTHING,
    filters: Mapping[str, Callable[..., Any]] = _NOTHING,
) -> Environment:
    """Of the templates in a folder, with what they may use."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        finalize=_printed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= values
    made.filters |= {"link": _link, "value": _value, "verbatim": _verbatim, **filters}
    return made


def shortened(text: str, most: int) -> str:
    """With a word on what is left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… and {len(text) - most:,} characters more"


def _printed(value: object) -> object:
    """What `{{ value }}` prints; it is escaped afterwards, unless it is markup."""
    if value is None or isinstance(value, Markup):
        return value or ""
    text = shortened(str(value), _LONGEST_TEXT)
    # Spaces at its ends are between it and its neighbours.
    first, last = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{first}{plain(text)}{last if text.strip() else ''}"


def _verbatim(text: str) -> Markup:
    """Text of several lines, for `pre`; harmless, and as it was laid out."""
    return Markup("\n").join(escape(harmless(line)) for line in text.split("\n"))


def _value(text: str) -> Markup:
    """The value of an attribute, of which more is kept."""
    return escape(plain(str(text)[:_LONGEST_VALUE]))


def _link(address: str) -> Markup:
    """To this page, a place on it, or the web: never to a script."""
    link = plain(address[:_LONGEST_VALUE])
    is_elsewhere = link.startswith(("//", "/\\"))
    leads_well = link.startswith(("/", "#", "http://", "https://")) and not is_elsewhere
    return escape(link) if leads_well else Markup("#")
