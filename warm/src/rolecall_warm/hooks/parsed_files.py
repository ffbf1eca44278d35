"""Parsed YAML that a run need not parse again: what `DataLoader` made of the same text before.

A run still reads each of its files. What was parsed ahead is taken only where the text is the same,
letter by letter, and of the same file; so changes of files need not be noticed. It is taken once in
a process, since plays change what they loaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# It is encrypted, or a part of it: what becomes of that depends on the secrets of the run.
_SECRET = ("!vault", "$ANSIBLE_VAULT")
_MOST_LETTERS = 1 << 20

# What a text carries along: where it comes from, and that its templates are trusted.
TagsOf = Callable[[str], Any]


class ParsedFiles:
    """What the host parsed, and what runs take of it."""

    def __init__(self, tags_of: TagsOf, display: Any) -> None:
        self._tags_of = tags_of
        self._display = display
        self._kept: dict[Any, Any] = {}
        self._of_role: dict[str, list[Any]] = {}
        self._letters = 0
        self._parsed: list[tuple[Any, Any]] | None = None  # None: nothing is being kept

    def load(
        self, original: Callable[..., Any], loader: Any, data: Any, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `DataLoader.load`."""
        if not isinstance(data, str) or (self._parsed is None and not self._kept):
            return original(loader, data, *args, **more)
        key = (str.__str__(data), self._tags_of(data), args, *sorted(more.items()))
        if key in self._kept:
            return self._kept.pop(key)
        found = original(loader, data, *args, **more)
        if self._parsed is not None:
            self._parsed.append((key, found))
        return found

    def keep(self, role: str, loads: Iterable[Callable[[], object]]) -> None:
        """Keep what these parse, in place of what was kept for this role before."""
        for key in self._of_role.pop(role, []):
            self._letters -= len(key[0])
            del self._kept[key]
        kept = {key: found for load in loads for key, found in self._parsed_by(load)}
        kept = {key: found for key, found in kept.items() if key not in self._kept}
        self._kept.update(kept)
        self._of_role[role] = [*kept]

    def _parsed_by(self, load: Callable[[], object]) -> Iterator[tuple[Any, Any]]:
        """Nothing where it said something, which each run is to say."""
        said: list[object] = []
        self._parsed = []
        self._display.display = lambda *words, **_how: said.append(words)
        try:
            with contextlib.suppress(Exception):  # its run says what is wrong with it
                load()
            parsed = self._parsed
        finally:
            self._parsed = None
            del self._display.display
        for key, found in () if said else parsed:
            is_secret = any(word in key[0] for word in _SECRET)
            if not is_secret and self._letters + len(key[0]) <= _MOST_LETTERS:
                self._letters += len(key[0])
                yield key, found
