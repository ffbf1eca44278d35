"""The child's end of the socket to the engine: one JSON document a line, in both directions."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

from rolecall.json_object import Json

_LONGEST_LINE = 16 * 1024 * 1024


class Link:
    """Used from the child's loop; `tell` from any thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._numbers: Iterator[int] = count(1)
        self._asked: dict[int, asyncio.Future[Json]] = {}

    async def open(self) -> Json:
        """Connect; returns the first document, which says what to do."""
        self._loop = asyncio.get_running_loop()
        self._reader, self._writer = await asyncio.open_connection(
            sock=self._connection, limit=_LONGEST_LINE
        )
        first: Json = json.loads(await self._reader.readline())
        return first

    async def listen(self, on_reported: Callable[[Json], None]) -> None:
        """Take what the engine says until it is gone."""
        while line := await self._reader.readline():
            document = json.loads(line)
            answered = self._asked.pop(document.get("answers", 0), None)
            if answered is None:
                on_reported(document)
            elif not answered.done():
                answered.set_result(document)

    async def ask(self, document: Json) -> Json:
        """Tell the engine something, and wait for its answer."""
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._write({**document, "asks": number})
        try:
            answered: Json = await answer
            return answered
        except asyncio.CancelledError:
            self._write({"message_type": "gave up", "number": number})
            raise
        finally:
            self._asked.pop(number, None)

    async def flush(self) -> None:
        """Wait until all that was told is sent."""
        await asyncio.sleep(0)  # what other threads told
        if self._writer is not None:
            with suppress(ConnectionError):
                await self._writer.drain()

    def report(self, document: Json) -> None:
        """Tell the engine something, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._write, document)

    def _write(self, document: Json) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(_line(document))


def _line(document: Json) -> bytes:
    return json.dumps(document, default=str).encode() + b"\n"
