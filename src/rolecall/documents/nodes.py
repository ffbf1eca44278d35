"""YAML as the Go operator's parser reads it, kept as nodes so that every value knows its line.

Promises the scalars of that parser: `y`, `yes`, `on` and their opposites are booleans, `010` is eight,
`1_000` is a thousand, `08` is a float, `1:30` and dates are text, merge keys work, a key that is given
twice is tolerated, and only the first document of a file counts. PyYAML's own loaders differ in most
of these, and lose the lines; so only its scanner, parser and composer are used here, with a resolver
of our own. Rejected: PyYAML's values with a table of exceptions, which gets `1:30` and `0o17` wrong
quietly.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

_TAG = "tag:yaml.org,2002:"
TEXT, TRUTH, WHOLE, NUMBER, NOTHING, MERGE = (
    _TAG + name for name in ("str", "bool", "int", "float", "null", "merge")
)
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_INFINITE = frozenset(f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF"))
_NOT_FINITE = _INFINITE | {".nan", ".NaN", ".NAN"}
_WORDS = {
    **dict.fromkeys(_TRUE | _FALSE, TRUTH),
    **dict.fromkeys(_NULL, NOTHING),
    **dict.fromkeys(_NOT_FINITE, NUMBER),
    "<<": MERGE,
}
_WHOLE = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DEEPEST = 200
_LONGEST_WHOLE = 200  # leading zeros included; Python refuses to read thousands of digits
_LARGEST_FLOAT = 3.4e38  # of 32 bits
_SMALLEST_EXPONENT = 1e21  # from here on Go's JSON writes floats with an exponent


class ShapeError(ValueError):
    """A node that does not mean what is wanted of it."""

    def __init__(self, node: yaml.Node, text: str) -> None:
        super().__init__(text)
        self.node = node


class _Composer(Reader, Scanner, Parser, Composer, BaseResolver):
    """PyYAML's machine up to nodes, with Go's idea of what a plain scalar is."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _tag_of(value) if implicit[0] else TEXT
        return _TAG + ("seq" if kind is yaml.SequenceNode else "map")


def compose_first(text: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The first document, and the second where there is one; raises `yaml.YAMLError`."""
    composer = _Composer(text)
    first = composer.get_node() if composer.check_node() else None
    _refuse_endless(first)
    try:
        second = composer.get_node() if composer.check_node() else None
    except yaml.YAMLError:
        second = None  # it is never read, so it may be broken
    return first, second


def _refuse_endless(root: yaml.Node | None) -> None:
    """An alias inside its own anchor, or absurd depth, would never end when read."""
    pending = [(root, 0)] if root is not None else []
    deepest: dict[int, int] = {}
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST:
            raise yaml.composer.ComposerError(
                None, None, "an anchor contains itself, or the nesting is too deep", node.start_mark
            )
        if deepest.get(id(node), -1) >= depth or isinstance(node, yaml.ScalarNode):
            continue
        deepest[id(node)] = depth
        for child in node.value:
            members = child if isinstance(child, tuple) else (child,)
            pending.extend((member, depth + 1) for member in members)


def _tag_of(plain: str) -> str:
    if plain in _WORDS:
        return _WORDS[plain]
    if plain[0] not in "+-.0123456789":
        return TEXT
    digits = plain if plain[0] == "." else plain.replace("_", "")
    if (
        len(digits) <= _LONGEST_WHOLE
        and _WHOLE.fullmatch(digits)
        and -(1 << 63) <= _whole(digits) < 1 << 64
    ):
        return WHOLE
    is_number = _NUMBER.fullmatch(digits) and not math.isinf(float(digits))
    return NUMBER if is_number else TEXT


def _whole(digits: str) -> int:
    """Read with Go's prefixes, where a leading zero alone means octal."""
    unsigned = digits.lstrip("+-").lower()
    is_octal = len(unsigned) > 1 and unsigned[0] == "0" and unsigned[1].isdigit()
    value = int(unsigned, 8) if is_octal else int(unsigned, 0)
    return -value if digits[0] == "-" else value


def scalar_value(node: yaml.Node) -> str | int | float | bool | None:
    """What a scalar means; raises `ShapeError` where an explicit tag does not fit its text."""
    text: str = node.value
    if node.tag == TRUTH:
        if text not in _TRUE and text not in _FALSE:
            raise ShapeError(node, f"`{text}` is not true or false")
        return text in _TRUE
    if node.tag == NOTHING:
        return None
    if node.tag in (WHOLE, NUMBER):
        digits = text.replace("_", "")
        if node.tag == WHOLE and len(digits) <= _LONGEST_WHOLE and _WHOLE.fullmatch(digits):
            return _whole(digits)
        if not _NUMBER.fullmatch(digits) or math.isinf(float(digits)):
            raise ShapeError(node, f"`{text}` is not a number that JSON allows")
        return float(digits)
    return text


def number_text(value: float) -> str:
    if abs(value) > _LARGEST_FLOAT:
        return f"{value:e}"
    exact = struct.pack("f", value)
    spelled = (f"{value:.{digits}e}" for digits in range(9))
    shortest = next(
        (text for text in spelled if struct.pack("f", float(text)) == exact), f"{value:e}"
    )
    mantissa, _, exponent = shortest.partition("e")
    if -4 <= int(exponent) < 6:
        return f"{Decimal(shortest):f}"
    return f"{mantissa}e{exponent}"


def json_value(node: yaml.Node) -> Any:
    """A node as JSON data; raises `ShapeError` for what JSON cannot say."""
    if isinstance(node, yaml.MappingNode):
        return {key_text(key): json_value(value) for key, value in pairs(node)}
    if isinstance(node, yaml.SequenceNode):
        return [json_value(item) for item in node.value]
    value = scalar_value(node)
    # Through the Go operator's JSON, `1.0` arrives in the play as 1, but `1e21` as a float.
    if isinstance(value, float) and value.is_integer() and abs(value) < _SMALLEST_EXPONENT:
        return int(value)
    return value


def key_text(node: yaml.Node) -> str:
    """A mapping's key as text, since JSON has no other keys."""
    if not isinstance(node, yaml.ScalarNode):
        raise ShapeError(node, "has a key that is not a string")
    value = scalar_value(node)
    if value is None:
        raise ShapeError(node, "has an empty key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, float) else str(value)


def pairs(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """A mapping's keys and values; what comes in by merge keys goes first, so that own keys win."""
    merged: list[tuple[yaml.Node, yaml.Node]] = []
    own: list[tuple[yaml.Node, yaml.Node]] = []
    for key, value in node.value:
        if key.tag != MERGE:
            own.append((key, value))
            continue
        sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for source in reversed(sources):
            if not isinstance(source, yaml.MappingNode):
                raise ShapeError(value, "has a merge key `<<` without a map")
            merged.extend(pairs(source))
    return merged + own
