"""Text of CRs and of plays, made harmless for whoever shows it: a terminal, or a page.

Nothing in it may steer a terminal, nor turn the direction of writing round.
"""

from __future__ import annotations

import re
import unicodedata

# Colours that a play was told to print; every other sequence moves the cursor, or worse.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")


def plain(text: str) -> str:
    """In one line, and harmless."""
    return "".join(_harmless(each) for each in _STEERING.sub("", " ".join(text.split())))


def harmless(line: str, *, keeps_colours: bool = False) -> str:
    """A line of output without what steers a terminal; colours may stay."""
    if not keeps_colours:
        return "".join(_harmless(each) for each in _STEERING.sub("", line))
    parts = _COLOUR.split(line)
    colours = [*_COLOUR.findall(line), ""]
    return "".join(harmless(part) + colour for part, colour in zip(parts, colours, strict=True))


def _harmless(each: str) -> str:
    # Control characters, and those that turn the direction of writing round.
    is_steering = unicodedata.category(each) in ("Cc", "Cf") and each != "\t"
    return "" if is_steering else each
