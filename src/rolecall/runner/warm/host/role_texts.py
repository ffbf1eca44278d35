"""Compiles the templates of a role before it runs the next time, from the role's own files.

Only files are read, never what a run said: texts that came with a CR or a Secret are nobody else's
business. Nothing is rendered: a template may look things up or start programs. What is missed (a text
that was put together, a filter that only the role knows) is compiled in the run, as always.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

# What Ansible takes as an expression, without braces around it.
_CONDITIONS = frozenset({"when", "until", "failed_when", "changed_when", "that", "break_when"})
_MOST_FILES = 200
_LONGEST_BYTES = 64 * 1024
_MOST_TEXTS = 1000

Looks = dict[str, tuple[int, int]]


class RoleTexts:
    """The roles that were read, and how their files looked."""

    def __init__(self) -> None:
        self._waiting: set[str] = set()
        self._read: dict[str, Looks] = {}

    def ran(self, folder: str) -> None:
        """A role (or a folder with a playbook) is in use; read it when there is time."""
        if folder:
            self._waiting.add(folder)

    def read_waiting(self) -> bool:
        """Read what is new, and compile what is in there; whether there was anything."""
        has_read = False
        while self._waiting:
            folder = self._waiting.pop()
            files = list(_files(Path(folder)))
            looks = {str(path): _looks(path) for path in files}
            if self._read.get(folder) != looks:
                self._read[folder] = looks
                _compile_all(files)
                has_read = True
        return has_read


def _files(folder: Path) -> Iterator[Path]:
    found = 0
    with contextlib.suppress(OSError):
        for path in sorted(folder.rglob("*.y*ml")):
            if found < _MOST_FILES and path.is_file() and path.stat().st_size <= _LONGEST_BYTES:
                found += 1
                yield path


def _looks(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def _compile_all(files: list[Path]) -> None:
    from ansible._internal._templating._engine import (  # noqa: PLC0415 - imported by `preload`
        TemplateEngine,
        TemplateOptions,
    )
    from ansible.template import trust_as_template  # noqa: PLC0415

    engine = TemplateEngine(variables={})
    condition = TemplateOptions(escape_backslashes=False, preserve_trailing_newlines=False)
    texts = list(dict.fromkeys(text for path in files for text in _texts(path)))
    for is_condition, text in texts[:_MOST_TEXTS]:
        trusted = trust_as_template(text)
        with contextlib.suppress(Exception):  # its run says what is wrong with it
            if is_condition:
                engine._compile_expression(trusted, condition)
            else:
                engine._compile_template(trusted, TemplateOptions.DEFAULT)


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
