"""Stands in front of a server, so that a test can make the network bad.

Bytes pass unchanged, so TLS stays end to end. Each direction has its own order kept; a delay applies to
every piece that passes. The relay runs a loop of its own in a thread: a test that blocks its own loop
does not stop the network. What it cannot do: lose or reorder packets, TCP hides those anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any

_PIECE = 64 * 1024


class Relay:
    """Listens on one port of 127.0.0.1 and passes connections on to another."""

    def __init__(self, port: int, target_port: int) -> None:
        self.port = port
        self.delay_s = 0.0  # read for every piece, so it may change at any time
        self._target_port = target_port
        self._connections: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"relay-{port}")
        self._server: asyncio.Server | None = None

    def start(self) -> None:
        """Listen; raises OSError when the port is taken."""
        self._thread.start()
        try:
            self._call(self._listen())
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        if self._thread.is_alive():
            self._call(self._stop_listening())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    def refuse(self) -> None:
        """Stop listening, so that connections are refused, and cut the open ones."""
        self._call(self._stop_listening())

    def accept(self) -> None:
        if self._server is None:
            self._call(self._listen())

    def cut(self) -> None:
        """Drop the present connections; new ones are welcome."""
        self._call(self._drop())

    def hold(self) -> None:
        """Let nothing pass, on old connections and new ones, without closing any."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def release(self) -> None:
        """Let everything pass that was held."""
        self._loop.call_soon_threadsafe(self._open.set)

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> None:
        self._open.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._drop()

    async def _drop(self) -> None:
        connections = list(self._connections)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection is always served in a task"
        self._connections.add(task)
        try:
            # Cancelled by _drop: that is how a connection is cut, and no error of anyone.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._join(reader, writer)
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target_port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_on(reader, back))
                group.create_task(self._pass_on(there, writer))
        except* OSError:
            pass  # one side closed hard; the other is closed with it below
        finally:
            back.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(_PIECE):
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            await self._open.wait()
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
