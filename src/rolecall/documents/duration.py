"""Durations as Go writes them: `300ms`, `1.5h`, `2h45m`, `-10s`, and the bare `0`.

Promises exactly Go's grammar, its limits (a signed 64-bit count of nanoseconds) and its error texts,
because watches files, flags, annotations and `requeue_after` of existing projects were checked by it,
and because the text of its error is part of a Failure condition's message. Durations leave this
module as seconds. Rejected: a friendlier grammar with days or bare numbers, since a file that only we
accept is no longer a file that can go back.
"""

from __future__ import annotations

import re

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # the micro sign
    "\u03bcs": 1_000,  # the Greek letter mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_TERM = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]*)")
_LIMIT = 1 << 63
_MOST_DIGITS = 19  # of the limit; Python refuses to read thousands, with an error of its own
# A fraction's further digits are below one nanosecond of any unit; Go drops them at this size too.
_FRACTION_LIMIT = (_LIMIT - 1) // 10


class DurationError(ValueError):
    """A text that is no duration; says so in Go's words."""


def parse_duration(text: str) -> float:
    """Read a duration into seconds, or raise `DurationError`."""
    is_negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0.0
    if not rest:
        raise _invalid(text)
    total = 0
    while rest:
        term = _TERM.match(rest)
        if term is None or not (term[1] or term[2]):
            raise _invalid(text)
        total += _term_nanoseconds(term, text)
        rest = rest[term.end() :]
    if total > (_LIMIT if is_negative else _LIMIT - 1):
        raise _invalid(text)
    return (-total if is_negative else total) / 1e9


def _term_nanoseconds(term: re.Match[str], text: str) -> int:
    whole, fraction, unit = term[1], term[2] or "", term[3]
    if not unit:
        raise DurationError(f"time: missing unit in duration {_quoted(text)}")
    if unit not in _NANOSECONDS:
        raise DurationError(f"time: unknown unit {_quoted(unit)} in duration {_quoted(text)}")
    size = _NANOSECONDS[unit]
    if len(whole.lstrip("0")) > _MOST_DIGITS:
        raise _invalid(text)
    count = int(whole or "0")
    if count > _LIMIT // size:
        raise _invalid(text)
    digits, scale = 0, 1
    for digit in fraction:
        if digits > _FRACTION_LIMIT:
            break
        digits, scale = digits * 10 + int(digit), scale * 10
    # Through floats, as Go does: `0.1h` must come out the same to the nanosecond.
    return count * size + int(digits * (size / scale))


def _invalid(text: str) -> DurationError:
    return DurationError(f"time: invalid duration {_quoted(text)}")


def _quoted(text: str) -> str:
    """Quote as Go's `time` does: other than printable ASCII goes byte by byte."""
    parts = []
    for character in text:
        if character in '"\\':
            parts.append(f"\\{character}")
        elif " " <= character < "\x80":
            parts.append(character)
        else:
            is_byte = "\udc80" <= character <= "\udcff"  # else half a character
            encoded = character.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
            parts.append("".join(f"\\x{byte:02x}" for byte in encoded))
    return f'"{"".join(parts)}"'


def format_duration(seconds: float) -> str:
    """Spell seconds as Go prints a duration: `10h0m0s`, `1m30.5s`, `250ms`, `0s`."""
    nanoseconds = round(seconds * 1e9)
    sign, nanoseconds = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    if nanoseconds < _NANOSECONDS["s"]:
        return sign + _below_a_second(nanoseconds)
    whole_s, rest_ns = divmod(nanoseconds, _NANOSECONDS["s"])
    fraction = f".{rest_ns:09d}".rstrip("0").rstrip(".")
    minutes, seconds_left = divmod(whole_s, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{seconds_left}{fraction}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else sign + text


def _below_a_second(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return "0s"
    unit, digits = next(
        (name, places)
        for name, places in (("ms", 6), ("\u00b5s", 3), ("ns", 0))
        if nanoseconds >= 10**places
    )
    whole, rest = divmod(nanoseconds, 10**digits)
    fraction = f".{rest:0{digits}d}".rstrip("0").rstrip(".") if rest else ""
    return f"{whole}{fraction}{unit}"
