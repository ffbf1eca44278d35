"""One watch: an answer without an end, taken apart into events.

Promise: events come in the server's order, each decoded alone; the loop gets its turn between them.
A stream that is silent for longer than allowed, broken, or brings what is no event raises
`UnavailableError`; one that the server ends simply ends; a `resourceVersion` that is too old raises
`GoneError`. Going on is the part of the caller, who alone knows what was seen. Objects may be
megabytes: lines have no length limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.kube.answers import UNREADABLE, UnexpectedAnswerError, check_named, read_object
from rolecall.kube.errors import Target, UnavailableError, error_from_status
from rolecall.kube.later import aiohttp
from rolecall.kube.too_deep import TooDeep, members_of

_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})
_BYTES_PER_TURN = 128 * 1024


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What happened: ADDED, MODIFIED, DELETED or BOOKMARK, and to what."""

    type: str
    object: Json
    line: bytes = b""  # as the server sent it; see `object_of`

    @property
    def resource_version(self) -> str:
        """Where the stream stands after this event."""
        metadata = self.object.get("metadata") or {}
        return str(metadata.get("resourceVersion") or "")


def object_of(line: bytes) -> Json:
    """The object of an event once more, from its line."""
    decoded: Json = read_object(line)["object"]
    return decoded


async def decode_events(
    response: aiohttp.ClientResponse, target: Target
) -> AsyncIterator[WatchEvent]:
    """Yield the events of an open answer."""
    decoded = 0
    async for line in _lines(response.content):
        yield _event(line, target)
        decoded += len(line)
        if decoded > _BYTES_PER_TURN:
            decoded = 0
            await asyncio.sleep(0)


def _event(line: bytes, target: Target) -> WatchEvent:
    try:
        row = _row(line)
        kind, subject = row.get("type"), row.get("object")
        if kind == "ERROR" and isinstance(subject, dict):
            raise error_from_status(target, _code_of(subject), subject)
        if kind not in _TYPES or not isinstance(subject, dict):
            raise UnexpectedAnswerError("JSON that is not an event")
        if kind != "BOOKMARK":
            check_named(subject, "an event with an object")
        elif not isinstance(subject.get("metadata"), dict):
            raise UnexpectedAnswerError("a bookmark without metadata")
        return WatchEvent(str(kind), subject, line)
    except UNREADABLE as failure:
        is_odd = isinstance(failure, UnexpectedAnswerError)
        what = str(failure) if is_odd else f"a line of {len(line)} bytes that is not JSON"
        raise UnavailableError(f"could not {target}: the watch received {what}") from failure


def _row(line: bytes) -> Json:
    """An event; of an object that cannot be read, only where the stream stands after it."""
    try:
        return read_object(line)
    except RecursionError:
        text = line.decode()
        members = dict(members_of(text, text.index("{")))
        if "object" not in members:
            raise
        unread = TooDeep.of(text, members["object"])
        unread.report()
        return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": unread.version}}}


def _code_of(status: Json) -> int:
    code = status.get("code")
    return code if isinstance(code, int) else 0


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    pieces: list[bytes] = []
    async for chunk in content.iter_any():
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            line = b"".join((*pieces, part)) if pieces else part
            pieces.clear()
            if line.strip():
                yield line
        if rest:
            pieces.append(rest)
