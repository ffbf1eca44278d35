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
    """The child's connection to the engine: for use on the child's loop; `send` from any thread."""

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

    async def listen(self, on_message: Callable[[Json], None]) -> None:
        """Take the messages of the engine until it closes the connection."""
        while line := await self._reader.readline():
            document = json.loads(line)
            answered = self._asked.pop(document.get("answers", 0), None)
            if answered is None:
                on_message(document)
            elif not answered.done():
                answered.set_result(document)

    async def ask(self, document: Json) -> Json:
        """Send a request to the engine, and wait for its response."""
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
        """Wait until all messages are written to the socket."""
        await asyncio.sleep(0)  # messages of other threads
        if self._writer is not None:
            with suppress(ConnectionError):
                await self._writer.drain()

    def send(self, document: Json) -> None:
        """Send a message to the engine, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._write, document)

    def _write(self, document: Json) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(_line(document))


def _line(document: Json) -> bytes:
    return json.dumps(document, default=str).encode() + b"\n"
