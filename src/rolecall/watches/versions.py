"""Versions of collections, and what requirements.yml may ask of them: `>=1.2.0,<2.0.0`."""

from __future__ import annotations

import operator
import re

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?")
_CONDITIONS = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_CONDITION = re.compile(r"(==|=|!=|>=|<=|>|<)?\s*(.+)")
_Key = tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]


def satisfies(version: str, wanted: str) -> bool:
    """Whether the version is one of those; what cannot be read is taken for satisfied."""
    found = _key(version)
    for part in wanted.split(","):
        condition = _CONDITION.fullmatch(part.strip())
        if condition is None or condition[2].strip() == "*":
            continue
        limit = _key(condition[2].strip())
        if found is None or limit is None:
            continue
        if not _CONDITIONS[condition[1] or "=="](found, limit):
            return False
    return True


def _key(version: str) -> _Key | None:
    """What sorts as semantic versions do: a release after all that lead to it."""
    parts = _VERSION.fullmatch(version)
    if parts is None:
        return None
    release = (int(parts[1]), int(parts[2]), int(parts[3]))
    words = (parts[4] or "").split(".") if parts[4] else []
    return release, not words, [_word(word) for word in words]


def _word(word: str) -> tuple[bool, int, str]:
    return (False, int(word), "") if word.isdigit() else (True, 0, word)
