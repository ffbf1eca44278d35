"""Asks the operator by the commands of `rolecall`, so that there is one way to reach an engine.

Each command is a child process: those of an engine in a pod are run there, with no code of ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import IO, NamedTuple, Protocol

from rolecall.json_object import Json
from rolecall.plain_text import plain

# Between looks at replicas that divide the CRs: a stream comes from one of them alone.
_POLL_S = 2.0
# The state of many CRs is one line.
_LONGEST = 1 << 28


class LostEngineError(Exception):
    """No engine answers; says why."""


class Seen(NamedTuple):
    """A state document, as `rolecall status -o json` prints it, and which engine it comes from."""

    document: Json
    source: str


class CommandOutput(NamedTuple):
    """What a command printed."""

    code: int
    lines: Sequence[str]
    said: Sequence[str]  # on stderr

    @property
    def text(self) -> str:
        """In one line: the result, or why there is none."""
        return plain(" ".join(self.lines if not self.code else self.said[-2:]))


class CommandRunner(Protocol):
    """What the screens ask."""

    def states(self) -> AsyncGenerator[Seen, None]:
        """Each change; raises `LostEngineError` at the end."""

    async def ask(self, words: Sequence[str], width: int = 0) -> CommandOutput:
        """Run a command; `width`: as on a terminal of so many columns."""

    def follow(self, words: Sequence[str], width: int) -> AsyncGenerator[str, None]:
        """The lines of a command while they come."""


class ChildCommands:
    """The operator that the commands find."""

    def __init__(self, place: Sequence[str], crs: Sequence[str] = ()) -> None:
        self._place = place
        self._status = ["status", *crs, "-o", "json"]

    async def states(self) -> AsyncGenerator[Seen, None]:
        while True:
            answer = await self.ask(self._status)
            seen = _seen(answer)
            yield seen
            engine = seen.document["engine"]
            if engine is None:
                raise LostEngineError(seen.source)
            if not engine.get("shards"):
                break
            await asyncio.sleep(_POLL_S)
        async with aclosing(self.follow([*self._status, "--watch"], 0)) as lines:
            async for line in lines:
                yield Seen(json.loads(line), seen.source)
        raise LostEngineError("the engine ended, or cannot be reached")

    async def ask(self, words: Sequence[str], width: int = 0) -> CommandOutput:
        with tempfile.TemporaryFile() as errors:
            async with self._started(words, width, errors) as (process, reader):
                lines = (await reader.read()).decode(errors="replace").splitlines()
                code = await process.wait()
            errors.seek(0)
            return CommandOutput(code, lines, errors.read().decode(errors="replace").splitlines())

    async def follow(self, words: Sequence[str], width: int) -> AsyncGenerator[str, None]:
        # A person reads both streams, a program one of them.
        async with self._started(words, width, None if width else DEVNULL) as (_, reader):
            while line := await reader.readline():
                yield line.decode(errors="replace").rstrip("\r\n")

    @asynccontextmanager
    async def _started(
        self, words: Sequence[str], width: int, errors: IO[bytes] | int | None
    ) -> AsyncIterator[tuple[Process, asyncio.StreamReader]]:
        """With a width, stdout is a terminal, for which commands fold and colour what they print."""
        # Pauses are annotations, which need no engine.
        place = () if words[0] in ("pause", "resume") else self._place
        ours, theirs = os.openpty() if width else os.pipe()
        source = os.fdopen(ours, "rb", buffering=0)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "rolecall", *words, *place),
                stdin=DEVNULL,
                stdout=theirs,
                stderr=theirs if errors is None else errors,
                env={**os.environ, "COLUMNS": str(width), "LINES": "24"} if width else None,
            )
        finally:
            os.close(theirs)
        reader = asyncio.StreamReader(limit=_LONGEST)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: _UntilClosed(reader), source
        )
        try:
            yield process, reader
        finally:
            transport.close()
            if process.returncode is None:
                process.terminate()
                await process.wait()


class _UntilClosed(asyncio.StreamReaderProtocol):
    """A terminal whose other side is closed fails to be read: that is its end."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        super().connection_lost(None)


def _seen(answer: CommandOutput) -> Seen:
    try:
        document: Json = json.loads("\n".join(answer.lines))
        if not answer.code:
            return Seen(document, plain(" ".join(answer.said)))
    except ValueError:
        pass
    raise LostEngineError(answer.text)
