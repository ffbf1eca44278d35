"""Ranges of versions as `olm.skipRange` has them, such as `>=1.0.0 <1.4.0 || 0.9.x`.

A space means *and*, `||` means *or*. `x` stands for any number at the end: `1.2.x` is every 1.2.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from rolecall_dev.bundle.version import Precedence, is_version, precedence

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
