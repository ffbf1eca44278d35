"""Text of CRs and of plays, made harmless for what shows it: a terminal, or a page.

Nothing in it may steer a terminal, nor turn the direction of writing round; and of many names, an Event
or a line has the first few.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Colours that a play printed; every other sequence moves the cursor, or worse.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")

_NAMED = 5


def listed(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def plain(text: str) -> str:
    """In one line, and harmless."""
    if text.isascii() and text.isprintable():  # as nearly all of it is
        return " ".join(text.split())
    return _without_controls(" ".join(text.split()))


def harmless(line: str, *, keeps_colours: bool = False) -> str:
    """A line of output without what steers a terminal; colours may stay."""
    if not keeps_colours:
        return _without_controls(line)
    parts = _COLOUR.split(line)
    colours = [*_COLOUR.findall(line), ""]
    return "".join(harmless(part) + colour for part, colour in zip(parts, colours, strict=True))


def _without_controls(line: str) -> str:
    if line.isprintable():
        return line  # nearly all lines, of which there may be megabytes
    return "".join(_harmless(each) for each in _STEERING.sub("", line))


def _harmless(each: str) -> str:
    # Control characters, those that turn the direction of writing round, and halves of a character,
    # which cannot be encoded.
    category = unicodedata.category(each)
    if category == "Cs":
        return "\ufffd"
    return "" if category in ("Cc", "Cf") and each != "\t" else each
