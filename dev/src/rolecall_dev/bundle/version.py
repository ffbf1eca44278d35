"""Semantic versions: which are legal, and which of two is newer."""

from __future__ import annotations

import re

from rolecall.errors import InputError

_PART = r"(0|[1-9]\d*)"
_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_PART}\.{_PART}\.{_PART}(?:-({_WORD}(?:\.{_WORD})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
Precedence = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def checked_version(version: str) -> str:
    """The version, if it is one."""
    if not _SEMVER.fullmatch(version):
        better = version.removeprefix("v")
        raise InputError(
            f"version `{version}` is not a semantic version such as `1.2.3` or `1.2.3-rc.1`",
            hint=f"`--version {better}`" if _SEMVER.fullmatch(better) else "",
        )
    return version


def is_version(text: object) -> bool:
    return isinstance(text, str) and bool(_SEMVER.fullmatch(text))


def precedence(version: str) -> Precedence:
    """To sort by: numbers as numbers, and a pre-release before its release."""
    found = _SEMVER.fullmatch(version)
    if found is None:
        raise ValueError(version)
    words = found[4].split(".") if found[4] else []
    keys = tuple((not word.isdigit(), int(word) if word.isdigit() else 0, word) for word in words)
    return tuple(int(part) for part in found.group(1, 2, 3)), not words, keys
