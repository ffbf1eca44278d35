"""Notes what a run, or a module in a fork of it, had to import: the host can have it ready next time.

Noted are libraries of this Python and of collections, with the file that each came from. What a role
brings along stays the role's: a name that it gave to a file of its own may mean something else to
others.
"""

from __future__ import annotations

import contextlib
import json
import os
import site
import sys
import sysconfig
from itertools import takewhile

# Enough for all that a large client library has; a host that never rests must not fill the disk.
_MOST_BYTES = 1 << 20
_COLLECTIONS = "/ansible_collections/"


class ImportNotes:
    """Where to note, and what need not be."""

    def __init__(self) -> None:
        self._libraries = library_folders()
        self._last = ""  # the module that was imported last before the run
        self._file = ""
        self.refused: set[str] = set()  # names that the host cannot have ready

    def open(self, file: str) -> None:
        """From here on, what is imported is news."""
        self._last = next(reversed(sys.modules))
        self._file = file

    def write(self) -> None:
        """Note the news of this process; a disk without room costs speed, not a run."""
        if not self._file:
            return
        news = {
            name: origin
            for name in self._news()
            if name not in self.refused and (origin := origin_of(name))
        }
        news = {name: origin for name, origin in news.items() if self._is_library(origin)}
        if news:
            with contextlib.suppress(OSError):
                _append(self._file, json.dumps(news).encode() + b"\n")

    def _news(self) -> list[str]:
        """In order of import. Looking at all others would copy the page of each in this fork."""
        return [*takewhile(lambda name: name != self._last, reversed(sys.modules))][::-1]

    def _is_library(self, origin: str) -> bool:
        return origin.startswith(self._libraries) or _COLLECTIONS in origin


def origin_of(name: str) -> str:
    """The file that a module was imported from; empty where it has none."""
    return str(getattr(getattr(sys.modules.get(name), "__spec__", None), "origin", None) or "")


def library_folders(*more: str) -> tuple[str, ...]:
    folders = {*site.getsitepackages(), sysconfig.get_path("stdlib"), *more}
    return tuple(f"{folder}/" for folder in folders)


def _append(file: str, line: bytes) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_size < _MOST_BYTES:
            os.write(fd, line)  # in one piece: others may be writing, too
    finally:
        os.close(fd)
