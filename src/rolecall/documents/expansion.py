"""Environment variables spliced into the text of watches.yaml, with every line's origin kept.

Promises: `${NAME}` and `$NAME` become the variable's value where it is set, even to the empty text;
everything else stays as it was written, so that `$1` and `$$` in a regular expression survive. (The
Go operator rewrites these to `${1}` and `${$}`.) The whole file is expanded, comments and keys
included, and values are raw text that may bring YAML of their own, as always.

The one hard part: a value with line breaks shifts what follows, so each line of the expanded text
knows the line of the file that it came from. There is no escape and no default-value syntax; a
variable that is not set leaves its reference in place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_REFERENCE = re.compile(r"\$\{([^}]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
# What YAML counts as the end of a line.
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class ExpandedText:
    """Text after expansion; `origins[n]` is the file's line (from 1) that line n (from 0) came from."""

    text: str
    origins: tuple[int, ...]

    def origin(self, line: int) -> int:
        """The file's line, from 1, for a line of the expanded text, from 0."""
        return self.origins[min(line, len(self.origins) - 1)]


def expand(text: str, environment: Mapping[str, str]) -> ExpandedText:
    """Replace what is set in the environment, and only that."""
    parts: list[str] = []
    origins = [1]
    position = 0

    def keep(literal: str) -> None:
        parts.append(literal)
        for _ in range(_breaks(literal)):
            origins.append(origins[-1] + 1)

    for reference in _REFERENCE.finditer(text):
        name = reference[1] if reference[1] is not None else reference[2]
        if name not in environment:
            continue
        keep(text[position : reference.start()])
        parts.append(environment[name])
        origins.extend([origins[-1]] * _breaks(environment[name]))
        position = reference.end()
    keep(text[position:])
    return ExpandedText("".join(parts), tuple(origins))


def unset_names(value: str) -> list[str]:
    """The variables that an expanded value still refers to, for messages."""
    return [match[1] or match[2] for match in _REFERENCE.finditer(value) if match[1] or match[2]]


def _breaks(text: str) -> int:
    return len(_LINE_BREAK.findall(text))
