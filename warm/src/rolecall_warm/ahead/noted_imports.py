"""Imports what runs had to import, so that the next ones need not.

Runs note names and files (`hooks/import_notes.py`); here they are tried in a fork first. A library that
starts a thread, changes how signals are handled, ends the process, or is another file here than it was
in the run, is refused for good, and runs import it themselves as they always did.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from rolecall_base import processes, wire
from rolecall_warm.hooks.import_notes import ImportNotes, origin_of
from rolecall_warm.in_fork import output_of_fork

_TIMEOUT_S = 30.0
# Before a name that the fork imported without harm; it says each name before it tries.
_GOOD = "+"

Noted = dict[str, str]  # a module's name, the file it came from


class NotedImports:
    """The step of it; runs note in `file`."""

    def __init__(self, file: Path, notes: ImportNotes) -> None:
        self.file, self._notes = file, notes

    def make(self, engine: socket.socket) -> bool:
        has_imported = import_noted(self.file, self._notes, engine)
        if has_imported:
            with contextlib.suppress(BrokenPipeError):
                wire.send(engine, {"op": "grown", "rss": processes.resident_bytes()})
        return has_imported


def import_noted(file: Path, notes: ImportNotes, engine: socket.socket) -> bool:
    """Import what was noted in the file and does no harm; whether there was anything."""
    if not file.exists():
        return False
    noted = _read(file, notes.refused)
    good, bad = _tried(noted, engine) if noted else ([], set())
    # Read once, also where nothing came of it: one bad line would hide all that follows it.
    file.unlink(missing_ok=True)
    for name in good:
        with contextlib.suppress(Exception):  # it worked a moment ago
            importlib.import_module(name)
    # What comes after a bad one was not tried: the next run that imports it notes it again.
    notes.refused.update(bad)
    return bool(good)


def _read(file: Path, refused: set[str]) -> Noted:
    noted: Noted = {}
    with contextlib.suppress(OSError, ValueError, AttributeError):
        for line in file.read_text().splitlines():
            noted.update({str(name): str(origin) for name, origin in json.loads(line).items()})
    # Ansible imports some packages anew in each run, though they are here.
    known = refused | sys.modules.keys()
    return {name: origin for name, origin in noted.items() if name not in known}


def _tried(noted: Noted, engine: socket.socket) -> tuple[list[str], set[str]]:
    """Import them in a fork, which ends at the first that does harm; the good names and the bad."""
    lines = output_of_fork(lambda saying: _try(noted, saying), engine, _TIMEOUT_S).decode().split()
    good = [line.removeprefix(_GOOD) for line in lines if line.startswith(_GOOD)]
    return good, {line for line in lines if not line.startswith(_GOOD)} - set(good)


def _try(noted: Noted, saying: int) -> None:
    before, threads = _state(), _threads()
    for name, origin in noted.items():
        os.write(saying, f"{name}\n".encode())
        is_good = False
        with contextlib.suppress(Exception):
            importlib.import_module(name)
            is_good = origin_of(name) == origin
        # One that ends is no harm: a fork hook of another library may have started it.
        if _state() != before or _threads() - threads:
            return
        if is_good:
            os.write(saying, f"{_GOOD}{name}\n".encode())


def _state() -> tuple[Any, ...]:
    """What an import must leave as it was."""
    handlers = tuple(signal.getsignal(number) for number in signal.valid_signals())
    return handlers, tuple(sys.path), tuple(map(id, sys.meta_path)), dict(os.environ)


def _threads() -> set[str]:
    return set(os.listdir("/proc/self/task"))  # noqa: PTH208 - of C libraries, too
