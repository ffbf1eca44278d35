"""Who reads what a command prints: a person at a terminal, with colours or not, or a program.

A command that was sent into a pod has no terminal there; `ROLECALL_RELAYED` describes the terminal of
the user. Text of CRs is hostile: nothing in it may steer the terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TextIO

RELAYED_VARIABLE = "ROLECALL_RELAYED"
_NARROWEST = 20
_RESET = "\x1b[0m"


class Colour(Enum):
    """Those of ansible-playbook."""

    RED = "\x1b[0;31m"
    GREEN = "\x1b[0;32m"
    YELLOW = "\x1b[0;33m"
    BLUE = "\x1b[0;34m"
    PURPLE = "\x1b[1;35m"
    CYAN = "\x1b[0;36m"
    GREY = "\x1b[1;30m"


@dataclass(frozen=True, slots=True)
class Screen:
    """What the reader of stdout sees."""

    is_terminal: bool = False
    has_colours: bool = False
    width: int | None = None  # None: a program reads, which cuts for itself
    height: int = 24

    def painted(self, text: str, colour: Colour | None) -> str:
        return f"{colour.value}{text}{_RESET}" if colour and self.has_colours and text else text


def screen_of(environ: Mapping[str, str]) -> Screen:
    """What reads our stdout."""
    relayed = environ.get(RELAYED_VARIABLE)
    if relayed is not None:
        return _relayed(relayed, environ)
    return screen_of_stream(sys.stdout, environ)


def screen_of_stream(stream: TextIO, environ: Mapping[str, str] = os.environ) -> Screen:
    """What reads that stream of this process."""
    if not stream.isatty():
        return Screen()
    columns, lines = shutil.get_terminal_size()
    return Screen(True, _wants_colours(environ), max(columns, _NARROWEST), lines)


def screen_now() -> Screen:
    """The same for our own environment; a window may have changed its width meanwhile."""
    return screen_of(os.environ)


def relayed_words(screen: Screen) -> str:
    """The description of this screen that a command in a pod gets."""
    return f"{screen.width}x{screen.height}" if screen.is_terminal else "no terminal"


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_cells_of(each) for each in text)


def cut(text: str, width: int) -> str:
    """The text in so many columns; what is missing is shown by `…`."""
    if cells(text) <= width:
        return text
    kept, room = "", width - 1
    for each in text:
        room -= _cells_of(each)
        if room < 0:
            break
        kept += each
    return kept + "…" if width > 0 else ""


def _relayed(text: str, environ: Mapping[str, str]) -> Screen:
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if found is None:
        return Screen()
    return Screen(True, _wants_colours(environ), max(int(found[1]), _NARROWEST), int(found[2]))


def _wants_colours(environ: Mapping[str, str]) -> bool:
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _cells_of(each: str) -> int:
    if unicodedata.combining(each):
        return 0
    return 2 if unicodedata.east_asian_width(each) in "WF" else 1


def say(text: str) -> None:
    """Print a message for the user on stderr, beside the output on stdout."""
    print(text, file=sys.stderr, flush=True)


def silence_stdout() -> None:
    """After the reader went: nothing more is written, also not when Python ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def end_with_caller() -> None:
    """In a pod: end at the end of stdin, the only sign that the caller's connection has ended."""

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()
