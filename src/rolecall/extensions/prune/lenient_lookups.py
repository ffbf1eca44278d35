"""Finds lookups that a play reads with `errors=`, by which a failure looks like an empty answer.

What such a lookup could not read, a loop over it does not want: nothing is pruned after runs of that
play. Looked at is the text of the play's files, since a lookup leaves no result of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rolecall.watches import Play

_LENIENT = re.compile(
    r"\b(?:lookup|query|q)\s*\(.{0,500}?\berrors\s*=\s*(?!['\"]strict)", re.DOTALL
)
_SKIPPED = frozenset({".git", "__pycache__", "molecule", "files", "tests", "roles"})
_SUFFIXES = frozenset({"", ".yml", ".yaml", ".j2", ".json"})
_MOST_FILES, _LARGEST = 5000, 1_000_000


def lenient_lookup_in(play: Play) -> str:
    """The first one, as `FILE:LINE`; empty: there is none. Blocking."""
    folder = play.path.parent
    beside = [folder] if play.is_role else [folder / "roles", folder.parent / "roles"]
    unread = {path for roles in beside if roles.is_dir() for path in roles.iterdir()}
    roots = [play.path if play.is_role else folder]
    unread.difference_update(roots)
    while roots:
        root = roots.pop()
        for text, file in _texts(root):
            if found := _LENIENT.search(text):
                line = text.count("\n", 0, found.start()) + 1
                return f"{root.name}/{file.relative_to(root)}:{line}"
            named = {path for path in unread if path.name in text}  # roles that it may use
            roots += sorted(named)
            unread -= named
    return ""


def _texts(root: Path) -> Iterator[tuple[str, Path]]:
    for file in islice(_files(root), _MOST_FILES):
        with contextlib.suppress(OSError):
            if file.stat().st_size <= _LARGEST:
                yield file.read_text(encoding="utf-8", errors="replace"), file


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - _SKIPPED)
        yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix in _SUFFIXES)
