"""Standard streams as a new interpreter would open them, for a process that never was one.

Encoding and error handlers depend on locale and environment in ways that only the interpreter knows, so
they are noted in the host before anything reconfigures them.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamHabits:
    """How this interpreter opens its standard streams."""

    encoding: str
    stdin_errors: str
    stdout_errors: str

    @classmethod
    def of_this_process(cls) -> StreamHabits:
        """As they are now; call before Ansible is imported."""
        return cls(
            encoding=sys.stdout.encoding,
            stdin_errors=sys.stdin.errors or "strict",
            stdout_errors=sys.stdout.errors or "strict",
        )

    def open_all(self) -> None:
        """Open the three streams anew on descriptors 0, 1 and 2.

        Standard output is always buffered: Ansible flushes it after each event, and unbuffered an
        event comes in ten writes, each of which wakes the engine. PYTHONUNBUFFERED is common in
        containers, for the sake of the engine's own log.
        """
        is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
        stdin = open(0, encoding=self.encoding, errors=self.stdin_errors, closefd=False)  # noqa: SIM115
        stdout = self._writer(1, self.stdout_errors, is_unbuffered=False)
        stderr = self._writer(
            2, "backslashreplace", is_unbuffered=is_unbuffered, line_buffering=True
        )
        sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
        sys.__dict__.update(__stdin__=stdin, __stdout__=stdout, __stderr__=stderr)

    def _writer(
        self, fd: int, errors: str, *, is_unbuffered: bool, line_buffering: bool = False
    ) -> io.TextIOWrapper:
        raw = io.FileIO(fd, "w", closefd=False)
        return io.TextIOWrapper(
            raw if is_unbuffered else io.BufferedWriter(raw),
            encoding=self.encoding,
            errors=errors,
            line_buffering=line_buffering and not is_unbuffered,
            write_through=is_unbuffered,
        )
