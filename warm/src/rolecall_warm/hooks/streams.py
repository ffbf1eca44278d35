"""Standard streams as a new interpreter would open them, for a process that never was one.

Encoding and error handlers depend on locale and environment in ways that only the interpreter knows, so
they are noted in the host before anything reconfigures them.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How this interpreter opens its standard streams."""

    encoding: str
    stdin_errors: str
    stdout_errors: str

    @classmethod
    def of_this_process(cls) -> StreamSettings:
        """As they are now; call before Ansible is imported."""
        return cls(
            encoding=sys.stdout.encoding,
            stdin_errors=sys.stdin.errors or "strict",
            stdout_errors=sys.stdout.errors or "strict",
        )

    def open_all(self, *, events_in_one_piece: bool = False) -> None:
        """Open the three streams anew on descriptors 0, 1 and 2.

        A play's standard output is buffered in any case: Ansible flushes it after each event, and
        unbuffered an event comes in ten writes, each of which wakes the engine. PYTHONUNBUFFERED is
        common in containers, for the sake of the engine's own log. What it promises is kept: words on
        standard error come after all that was said before, as part of the event that they belong to.
        """
        is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
        stdin = open(0, encoding=self.encoding, errors=self.stdin_errors, closefd=False)  # noqa: SIM115
        stdout = self._writer(
            io.FileIO(1, "w", closefd=False),
            self.stdout_errors,
            is_unbuffered=is_unbuffered and not events_in_one_piece,
        )
        stderr = self._writer(
            _AfterStdout(2, stdout if is_unbuffered else None),
            "backslashreplace",
            is_unbuffered=is_unbuffered,
            line_buffering=True,
        )
        sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
        sys.__dict__.update(__stdin__=stdin, __stdout__=stdout, __stderr__=stderr)

    def _writer(
        self, raw: io.FileIO, errors: str, *, is_unbuffered: bool, line_buffering: bool = False
    ) -> io.TextIOWrapper:
        return io.TextIOWrapper(
            raw if is_unbuffered else io.BufferedWriter(raw),
            encoding=self.encoding,
            errors=errors,
            line_buffering=line_buffering and not is_unbuffered,
            write_through=is_unbuffered,
        )


class _AfterStdout(io.FileIO):
    """Standard error that lets standard output go first."""

    def __init__(self, fd: int, stdout: io.TextIOWrapper | None) -> None:
        super().__init__(fd, "w", closefd=False)
        self._first = stdout

    def write(self, data: Any, /) -> int:
        if self._first is not None:
            with contextlib.suppress(OSError, ValueError):
                self._first.flush()
        return super().write(data)
