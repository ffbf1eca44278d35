"""Colours what a play printed line by line, as ansible-playbook does for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rolecall.cli.terminal import Colour, Screen
from rolecall.plain_text import harmless

_RESULTS = (
    ("ok: ", Colour.GREEN),
    ("changed: ", Colour.YELLOW),
    ("skipping: ", Colour.CYAN),
    ("included: ", Colour.CYAN),
    ("rescued: ", Colour.GREEN),
    ("...ignoring", Colour.CYAN),
    ("fatal: ", Colour.RED),
    ("failed: ", Colour.RED),
    ("ERROR! ", Colour.RED),
    ("[ERROR]", Colour.RED),
    ("[WARNING]", Colour.PURPLE),
    ("[DEPRECATION WARNING]", Colour.PURPLE),
    ("FAILED - RETRYING", Colour.YELLOW),
)
_DIFF = (("+", Colour.GREEN), ("-", Colour.RED), ("@@ ", Colour.CYAN))
_HEAD = re.compile(r"(PLAY|TASK|RUNNING HANDLER|PLAY RECAP) ?\[?.*\*{3,}$")
_RECAP = re.compile(r"\S+ +: ok=\d+")
_COUNTS = (
    ("ok", Colour.GREEN),
    ("changed", Colour.YELLOW),
    ("unreachable", Colour.RED),
    ("failed", Colour.RED),
    ("skipped", Colour.CYAN),
    ("ignored", Colour.BLUE),
)


class PlayColours:
    """Takes lines in their order: what follows a result, until a line is empty, has its colour."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._colour: Colour | None = None
        self._in_diff = False

    def line(self, text: str) -> str:
        if not self._screen.has_colours or "\x1b[" in text:
            return harmless(text, keeps_colours=self._screen.has_colours)
        clean = harmless(text)
        if _RECAP.match(clean):
            return self._recap(clean)
        self._in_diff = bool(clean.strip()) and (self._in_diff or clean.startswith("--- "))
        if not clean.strip() or _HEAD.match(clean):
            self._colour = None
        elif self._in_diff:
            self._colour = _begun(clean, _DIFF)
        else:
            self._colour = _begun(clean, _RESULTS) or self._colour
        return self._screen.painted(clean, self._colour)

    def _recap(self, text: str) -> str:
        host, colon, counts = text.partition(":")
        colour = _recap_colour(counts)
        for word, each in _COUNTS:
            found = re.search(rf"\b{word}=([1-9]\d*)", counts)
            if found:
                counts = counts.replace(found[0], self._screen.painted(found[0], each), 1)
        name = host.rstrip()
        return self._screen.painted(name, colour) + host[len(name) :] + colon + counts


def _begun(text: str, beginnings: Sequence[tuple[str, Colour]]) -> Colour | None:
    return next((colour for word, colour in beginnings if text.startswith(word)), None)


def _recap_colour(counts: str) -> Colour:
    if re.search(r"\b(failed|unreachable)=[1-9]", counts):
        return Colour.RED
    return Colour.YELLOW if re.search(r"\bchanged=[1-9]", counts) else Colour.GREEN
