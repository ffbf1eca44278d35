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

from rolecall.runner.warm.hooks.import_notes import ImportNotes, origin_of
from rolecall.runner.warm.host.trial import told_by_fork

_PATIENCE_S = 30.0

Noted = dict[str, str]  # a module's name, the file it came from


def take_over(file: Path, notes: ImportNotes, engine: socket.socket) -> bool:
    """Import what was noted in the file and does no harm; whether there was anything."""
    if not file.exists():
        return False
    noted = _read(file, notes.refused)
    good = _tried(noted, engine) if noted else []
    # Read once, also where nothing came of it: one bad line would hide all that follows it.
    file.unlink(missing_ok=True)
    for name in good:
        with contextlib.suppress(Exception):  # it worked a moment ago
            importlib.import_module(name)
    # What the trial did not come to is no longer news: it is not tried again and again.
    notes.refused.update(noted.keys() - good)
    return bool(good)


def _read(file: Path, refused: set[str]) -> Noted:
    noted: Noted = {}
    with contextlib.suppress(OSError, ValueError, AttributeError):
        for line in file.read_text().splitlines():
            noted.update({str(name): str(origin) for name, origin in json.loads(line).items()})
    return {name: origin for name, origin in noted.items() if name not in refused}


def _tried(noted: Noted, engine: socket.socket) -> list[str]:
    """Import them in a fork; the names that did no harm, without the one that ended it."""
    return told_by_fork(lambda telling: _try(noted, telling), engine, _PATIENCE_S).decode().split()


def _try(noted: Noted, telling: int) -> None:
    before = _state()
    for name, origin in noted.items():
        with contextlib.suppress(Exception):
            importlib.import_module(name)
            if _state() != before:
                return
            if origin_of(name) == origin:
                os.write(telling, f"{name}\n".encode())


def _state() -> tuple[Any, ...]:
    """What an import must leave as it was."""
    handlers = tuple(signal.getsignal(number) for number in signal.valid_signals())
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - of C libraries, too
    return handlers, threads, tuple(sys.path), tuple(map(id, sys.meta_path)), dict(os.environ)
