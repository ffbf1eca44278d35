"""One watch: an answer without an end, taken apart into events.

Promise: events come in the server's order, each decoded alone; the loop gets its turn between them.
A stream that is silent for longer than allowed, or broken, raises `UnavailableError`; one that the
server ends simply ends; a `resourceVersion` that is too old raises `GoneError`. Going on is the
part of the caller, who alone knows what was seen. Objects may be megabytes: lines have no length
limit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp

from rolecall.kube.errors import Target, error_from_status

Json = dict[str, Any]
_BYTES_PER_TURN = 128 * 1024


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What happened: ADDED, MODIFIED, DELETED or BOOKMARK, and to what."""

    type: str
    object: Json

    @property
    def resource_version(self) -> str:
        """Where the stream stands after this event."""
        metadata = self.object.get("metadata") or {}
        return str(metadata.get("resourceVersion") or "")


async def decode_events(
    response: aiohttp.ClientResponse, target: Target
) -> AsyncIterator[WatchEvent]:
    """Yield the events of an open answer."""
    decoded = 0
    async for line in _lines(response.content):
        row = json.loads(line)
        if row["type"] == "ERROR":
            status = row["object"]
            raise error_from_status(target, int(status.get("code") or 0), status)
        yield WatchEvent(row["type"], row["object"])
        decoded += len(line)
        if decoded > _BYTES_PER_TURN:
            decoded = 0
            await asyncio.sleep(0)


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
