"""What a pod prints, made safe for the terminal that shows it: a pod may be of any user.

Colours and what redraws a screen pass, since our own command prints them there. All else that steers
a terminal, or turns the direction of writing, is shown as an escape, in JSON's spelling.
"""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata

from rolecall.kube import Channel

# Those of `terminal.Colour` and `redraw`.
_ALLOWED = re.compile(r"\x1b\[(?:[0-9;]{0,15}m|H|K|J|2J)")
_BEGUN = re.compile(r"\x1b(?:\[[0-9;]{0,15})?\Z")


class PodOutput:
    """Prints what comes over the channels of one command; pieces may end anywhere."""

    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {each: decoder("backslashreplace") for each in Channel}
        self._begun = dict.fromkeys(Channel, "")

    def __call__(self, channel: Channel, data: bytes) -> None:
        stream = sys.stderr if channel is Channel.STDERR else sys.stdout
        stream.buffer.write(self.harmless(channel, data).encode(errors="backslashreplace"))
        stream.flush()

    def harmless(self, channel: Channel, data: bytes) -> str:
        """The text of a piece; what may go on in the next piece is kept for it."""
        text = self._begun[channel] + self._decoders[channel].decode(data)
        begun = _BEGUN.search(text)
        self._begun[channel] = begun[0] if begun else ""
        text = text[: begun.start()] if begun else text
        if text.isprintable():
            return text
        kept = _ALLOWED.findall(text)
        parts = _ALLOWED.split(text)
        return "".join(_escaped(part) + each for part, each in zip(parts, [*kept, ""], strict=True))


def _escaped(text: str) -> str:
    return "".join(map(_shown, text))


def _shown(each: str) -> str:
    if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cf", "Cs"):
        return each
    return json_escape(each)


def json_escape(each: str) -> str:
    """As JSON writes a character that it does not show."""
    units = each.encode("utf-16-be", "surrogatepass")
    pairs = (units[start : start + 2] for start in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)
