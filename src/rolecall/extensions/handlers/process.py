"""The process of handlers, as the engine holds it: started, spoken to, measured, ended.

It is a process of its own, so that what a handler does costs no run: a loop that stands still, a leak,
a crash of a C library. It dies with the engine, also where the engine is killed: its socket closes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path

from rolecall.json_object import Json
from rolecall_base.processes import resident_bytes

_PROGRAM = "rolecall.extensions.handlers.child"
_LONGEST_LINE = 16 * 1024 * 1024
_END_S = 8.0  # what daemons get to finish, and a little more
_logger = logging.getLogger(__name__)


class HandlersProcess:
    """One life of it."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer
        self._printing = asyncio.create_task(self._print())

    @classmethod
    async def start(cls, asked: Json, cwd: Path, environment: Mapping[str, str]) -> HandlersProcess:
        """`asked` is the first message to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _PROGRAM, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd=cwd,
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LONGEST_LINE)
        life = cls(process, reader, writer)
        life.send(asked)
        return life

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def memory_bytes(self) -> int:
        """What it takes now; 0 once it is gone."""
        return resident_bytes(self.pid)

    def send(self, document: Json) -> None:
        if not self._writer.is_closing():
            self._writer.write(json.dumps(document).encode() + b"\n")

    async def messages(self) -> AsyncIterator[Json]:
        """The messages of the process, until it ends."""
        with suppress(ConnectionError):
            while line := await self._reader.readline():
                yield json.loads(line)

    async def how_it_ended(self) -> str:
        """Waits for its end."""
        code = await self._process.wait()
        if code >= 0:
            return f"it ended with exit code {code}"
        return f"it was ended by {signal.Signals(-code).name}"

    def kill(self) -> None:
        """At once, with all processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    async def close(self, on_message: Callable[[Json], None] | None) -> None:
        """Let it end by itself, and take its messages until then; None: kill it at once."""
        try:
            if on_message is not None and self._writer.can_write_eof():
                self._writer.write_eof()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_END_S):
                        async for message in self.messages():
                            on_message(message)
                        await self._process.wait()
        finally:
            self.kill()
            await self._process.wait()
            self._writer.close()
            self._printing.cancel()

    async def _print(self) -> None:
        """What it prints past its log: of `print`, of C libraries, of the interpreter."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            text = line.decode(errors="replace").rstrip()
            if text:
                _logger.warning("handlers: %s", text)
