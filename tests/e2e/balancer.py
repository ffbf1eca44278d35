"""What a Service is to the API server: one address, behind which replicas come and go."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable


class Balancer:
    """Hands each connection to the next replica that accepts it. Runs in a thread of its own."""

    def __init__(self, ports: Callable[[], list[int]]) -> None:
        self.port = 0
        self._ports = ports
        self._turn = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open, self._end = threading.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))

    def __enter__(self) -> Balancer:
        self._thread.start()
        assert self._open.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._loop.close()

    async def _run(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._open.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._join(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            ports = self._ports()
            first = next(self._turn)
            for place in range(len(ports)):
                try:
                    port = ports[(first + place) % len(ports)]
                    there = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    continue
                with contextlib.closing(there[1]):
                    await _both(reader, writer, *there)
                return


async def _both(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    """Until either side has ended and the other has got all of it."""
    ways = {
        asyncio.ensure_future(_copy(reader, far_writer)),
        asyncio.ensure_future(_copy(far_reader, writer)),
    }
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
