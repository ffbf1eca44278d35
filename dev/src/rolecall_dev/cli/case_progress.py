"""How a test of an operator looks while it goes on: lines that stay, and one that says how far it is.

On a terminal that one changes in place. Elsewhere, a log of a build for one, a line of it comes when
nothing was said for half a minute: who reads that wants to know that it goes on, and not each second.
"""

from __future__ import annotations

import shutil
from typing import TextIO

from rolecall.clock import Clock

_EVERY_S = 30.0
_CLEAR = "\r\x1b[K"


class CaseProgress:
    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream, self._clock = stream, clock
        self._is_terminal = stream.isatty()
        self._said_at = clock.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._said_at = self._clock.monotonic()
        self._write(f"{_CLEAR if self._is_terminal else ''}{text}\n")

    def say_where(self, text: str) -> None:
        """How far it is now."""
        if self._is_terminal:
            # A line that wraps is not overwritten as a whole.
            width = shutil.get_terminal_size().columns - 1
            self._write(f"{_CLEAR}{text[:width]}")
        elif self._clock.monotonic() - self._said_at >= _EVERY_S:
            self.say(text)

    def clear(self) -> None:
        """Before others write to the same terminal."""
        if self._is_terminal:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
