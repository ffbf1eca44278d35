"""What was typed, turned into values; the error says what would have been right."""

from __future__ import annotations

from typing import Any

from rolecall.documents import parse_duration
from rolecall.errors import InputError
from rolecall.settings import Flag, FlagKind

_TRUE = {"1", "t", "T", "TRUE", "true", "True"}
_FALSE = {"0", "f", "F", "FALSE", "false", "False"}
_SIZES = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 10**3, "M": 10**6, "G": 10**9}


def parse_truth(text: str) -> bool:
    """Read a boolean as Go does."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("true or false")


def parse_bytes(text: str) -> int:
    """Read a size such as `50Mi`."""
    digits = text.rstrip("KMGik")
    factor = _SIZES.get(text[len(digits) :])
    if factor is None or not digits.isdecimal():
        raise ValueError("a size; use a number with or without Ki, Mi, Gi")
    return int(digits) * factor


def parse_flag(flag: Flag, text: str, source: str) -> Any:
    """Turn the text of one flag into its value; `source` is how the error names where it came from."""
    try:
        value = _parse(flag.kind, text)
    except ValueError as error:
        raise InputError(f"{source}: `{text}` is not {_wanted(flag, error)}") from None
    if flag.choices and value not in flag.choices:
        known = ", ".join(flag.choices)
        raise InputError(f"{source}: `{text}` is none of {known}")
    return value


def _parse(kind: FlagKind, text: str) -> Any:
    match kind:
        case FlagKind.TRUTH:
            return parse_truth(text)
        case FlagKind.WHOLE:
            return int(text)
        case FlagKind.NUMBER:
            return float(text)
        case FlagKind.BYTES:
            return parse_bytes(text)
        case FlagKind.DURATION:
            return parse_duration(text)
        case FlagKind.TEXT | FlagKind.PATH:
            return text


def _wanted(flag: Flag, error: ValueError) -> str:
    match flag.kind:
        case FlagKind.WHOLE:
            return "a whole number"
        case FlagKind.NUMBER:
            return "a number"
        case FlagKind.DURATION:
            return "a duration; use a number and a unit, such as `30s` or `5m`"
        case _:
            return str(error)
