"""How a build of the control plane's programs looks on a terminal, and in a log."""

from __future__ import annotations

import shutil
from typing import TextIO

from rolecall.clock import Clock
from rolecall_dev.localcluster import BuildStep

_LOG_EVERY_S = 30.0  # in a log, a sign of life now and then; on a terminal, a line that changes


class BuildProgress:
    """One line a program, with its time and what is left of the whole."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._said_at_s = 0.0

    def say(self, message: str) -> None:
        """Something worth a line."""
        self._line(message)

    def begin(self, step: BuildStep) -> None:
        """Announce a program; on a terminal `tick` overwrites the line."""
        self._said_at_s = 0.0
        if self._is_terminal:
            self.tick(step, 0.0)
        else:
            self._line(f"{_title(step)} ... {_left(step.left_s)}")

    def tick(self, step: BuildStep, elapsed_s: float) -> None:
        """A sign of life."""
        text = f"{_title(step)} {in_words(elapsed_s):>10} {_left(step.left_s - elapsed_s)}"
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
        elif elapsed_s - self._said_at_s >= _LOG_EVERY_S:
            self._said_at_s = elapsed_s
            self._line(text)

    def finish(self, step: BuildStep, elapsed_s: float) -> None:
        """The final line of a program."""
        self._line(f"{_title(step)} {in_words(elapsed_s):>10}")

    def _line(self, text: str) -> None:
        start = "\r\x1b[K" if self._is_terminal else ""
        self._stream.write(f"{start}{text}\n")
        self._stream.flush()


def in_words(seconds: float) -> str:
    """`4.2 s`, `3 min 21 s`, `2 h 5 min`: as short as a person says it."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest_s} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest_s} s"


def _title(step: BuildStep) -> str:
    return f"[{step.number}/{step.of}] {step.program.name} {step.version}"


def _left(seconds: float) -> str:
    return f"(about {in_words(seconds)} left)" if seconds > 0 else "(almost done)"


# How a test of an operator looks while it goes on: lines that stay, and one that says how far it is.
# On a terminal that one changes in place. Elsewhere, a log of a build for one, a line of it comes
# when nothing was said for half a minute: who reads that wants to know that it goes on, and not each
# second.

_EVERY_S = 30.0
_CLEAR = "\r\x1b[K"
_BAR = 20


class CaseProgress:
    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream, self._clock = stream, clock
        self._is_terminal = stream.isatty()
        self._said_at = clock.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._said_at = self._clock.monotonic()
        self._write(f"{_CLEAR if self._is_terminal else ''}{text}\n")

    def say_where(self, text: str, share: float) -> None:
        """How far it is now; on a terminal with a bar."""
        if self._is_terminal:
            # A line that wraps is not overwritten as a whole.
            width = shutil.get_terminal_size().columns - 1
            done = round(min(1.0, share) * _BAR)
            bar = f"[{'#' * done}{'.' * (_BAR - done)}] "
            self._write(f"{_CLEAR}{f'{bar}{text}'[:width]}")
        elif self._clock.monotonic() - self._said_at >= _EVERY_S:
            self.say(text)

    def clear(self) -> None:
        """Before others write to the same terminal."""
        if self._is_terminal:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
