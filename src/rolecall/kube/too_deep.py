"""Gets past an object that is nested deeper than Python reads JSON, so that it holds up no other.

Anyone who may write a CR whose schema keeps unknown fields may nest it thousands of levels deep: the
API server takes it, and the standard decoder gives up, by version at some hundreds or thousands of
levels. Such an object is left out of what was read, and the log names it. Rejected: to cut it and hand
on the rest, since a role would run with a spec that no user wrote; and to raise Python's limit, which
for the decoder is a stack that overflows.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.log_fields import log_fields

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
# What opens and closes; what stands in a text does not.
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TooDeep:
    """What could be read of such an object."""

    kind: str
    namespace: str
    name: str
    version: str

    @classmethod
    def of(cls, text: str, at: int) -> TooDeep:
        """The object that begins here."""
        members = dict(members_of(text, at))
        metadata = members.get("metadata")
        named = {} if metadata is None else dict(members_of(text, metadata))
        return cls(
            _text(text, members.get("kind")),
            _text(text, named.get("namespace")),
            _text(text, named.get("name")),
            _text(text, named.get("resourceVersion")),
        )

    def report(self, kind: str = "") -> None:
        """Log that it cannot be read. `kind`: where it is left out, as items of a list are."""
        _logger.error(
            "an object is nested too deeply to be read, so it is left alone",
            extra=log_fields(kind=self.kind or kind, namespace=self.namespace, name=self.name),
        )


def end_of_value(text: str, at: int) -> int:
    """Where an object or array ends that begins here, however deep it is."""
    depth = 0
    for mark in _MARK.finditer(text, at):
        if mark[0] in ("{", "["):
            depth += 1
        elif mark[0] in ("}", "]"):
            depth -= 1
            if not depth:
                return mark.end()
    raise json.JSONDecodeError("Unterminated value", text, at)


def members_of(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Each key of the object that begins here, and where its value begins; nothing of what is none."""
    at = past_space(text, at + 1) if text[at : at + 1] == "{" else len(text)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        start = past_space(text, past_space(text, at) + 1)
        yield key, start
        is_nested = text[start : start + 1] in ("{", "[")
        at = end_of_value(text, start) if is_nested else _DECODER.raw_decode(text, start)[1]
        at = past_space(text, at)
        if text[at : at + 1] == ",":
            at = past_space(text, at + 1)


def _text(text: str, at: int | None) -> str:
    if at is None or text[at : at + 1] != '"':
        return ""
    return str(_DECODER.raw_decode(text, at)[0])


def past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
