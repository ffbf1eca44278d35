"""Has the files of a role ready before it runs the next time: parsed, and their templates compiled.

Only files are read, never what a run said: texts that came with a CR or a Secret must not leave their
run. Nothing is rendered: a template may look things up or start programs. What is missed (a text
that was put together, a filter that only the role knows) is made in the run, as always.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from rolecall_base.file_stamp import Stamp, stamp_of
from rolecall_warm.hooks.core import Core
from rolecall_warm.hooks.parsed_files import ParsedFiles

# What Ansible takes as an expression, without braces around it.
_CONDITIONS = frozenset({"when", "until", "failed_when", "changed_when", "that", "break_when"})
_MOST_FILES = 200
_LONGEST_BYTES = 64 * 1024
_MOST_TEXTS = 1000


class RoleFiles:
    """The step of it."""

    def __init__(self, core: Core, parsed: ParsedFiles) -> None:
        self._core, self._parsed = core, parsed
        self._waiting: set[str] = set()
        self._read: dict[str, dict[str, Stamp | None]] = {}

    def role_ran(self, folder: str) -> None:
        """Read it when there is time; empty: there was none."""
        if folder:
            self._waiting.add(folder)

    def make(self, _engine: socket.socket) -> bool:
        """Read what waits."""
        has_read = False
        while self._waiting:
            folder = self._waiting.pop()
            files = list(_files(Path(folder)))
            stamps = {str(path): stamp_of(path) for path in files}
            if self._read.get(folder) != stamps:
                self._read[folder] = stamps
                self._core.compile_texts(_texts_of(files))
                loads = [partial(self._core.load_file, str(path)) for path in files]
                self._parsed.keep(folder, loads)
                has_read = True
        return has_read


def _files(folder: Path) -> Iterator[Path]:
    found = 0
    with contextlib.suppress(OSError):
        for path in sorted(folder.resolve().rglob("*.y*ml")):
            if found < _MOST_FILES and path.is_file() and path.stat().st_size <= _LONGEST_BYTES:
                found += 1
                yield path


def _texts_of(files: list[Path]) -> list[tuple[bool, str]]:
    return list(dict.fromkeys(text for path in files for text in _texts(path)))[:_MOST_TEXTS]


class _PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads what a template could be in; what has a tag (`!vault`, `!unsafe`) is none."""


_PlainLoader.add_multi_constructor("", lambda _loader, _suffix, _node: None)


def _texts(path: Path) -> Iterator[tuple[bool, str]]:
    """Every text of a file that Ansible may compile; whether it is a condition, and the text."""
    try:
        document = yaml.load(path.read_bytes(), Loader=_PlainLoader)  # noqa: S506 - makes plain data
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return
    yield from _texts_in(document, is_condition=False)


def _texts_in(value: Any, *, is_condition: bool) -> Iterator[tuple[bool, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_in(item, is_condition=key in _CONDITIONS)
            yield from _texts_in(key, is_condition=False)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item, is_condition=is_condition)
    elif isinstance(value, str):
        if "{{" in value or "{%" in value:
            yield False, value
        elif is_condition:
            yield True, value.strip()
