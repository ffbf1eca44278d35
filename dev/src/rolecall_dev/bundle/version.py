"""Semantic versions, which of two is newer, and ranges of them as `olm.skipRange` has them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from rolecall.errors import InputError

# Semantic versions: which are legal, and which of two is newer.

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


# Ranges of versions as `olm.skipRange` has them, such as `>=1.0.0 <1.4.0 || 0.9.x`.
# A space means *and*, `||` means *or*. `x` stands for any number at the end: `1.2.x` is every 1.2.

_ONE = re.compile(r"(<=|>=|==|!=|=|<|>|!)?\s*([^\s<>=!|]+)")
_ANY = re.compile(r"(\d+)\.(?:(\d+)\.)?[xX*](?:\.[xX*])?")
_MEANING: dict[str, Callable[[Precedence, Precedence], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!": operator.ne,
}
Test = Callable[[Precedence], bool]


def is_in_range(version: str, text: str) -> bool:
    """Whether a range holds a version; `ValueError` where the text is no range."""
    sought = precedence(version)
    return any(all(test(sought) for test in tests) for tests in _alternatives(text))


def _alternatives(text: str) -> list[list[Test]]:
    found = []
    for part in text.split("||"):
        rest = _ONE.sub("", part).strip()
        tests = [test for word in _ONE.finditer(part) for test in _tests(word[1] or "=", word[2])]
        if rest or not tests:
            raise ValueError(text)
        found.append(tests)
    return found


def _tests(sign: str, version: str) -> Iterator[Test]:
    sign = {"==": "=", "!=": "!"}.get(sign, sign)
    if is_version(version):
        yield _compared(sign, version)
        return
    any_of = _ANY.fullmatch(version)
    if any_of is None:
        raise ValueError(version)
    major, minor = int(any_of[1]), any_of[2]
    first = f"{major}.{minor or 0}.0"
    after = f"{major}.{int(minor) + 1}.0" if minor else f"{major + 1}.0.0"
    if sign == "=":
        yield _compared(">=", first)
        yield _compared("<", after)
    elif sign == "!":
        yield lambda it: it < precedence(first) or it >= precedence(after)
    elif sign in ("<", ">="):
        yield _compared(sign, first)
    else:
        yield _compared("<" if sign == "<=" else ">=", after)


def _compared(sign: str, version: str) -> Test:
    limit = precedence(version)
    return lambda it: _MEANING[sign](it, limit)
