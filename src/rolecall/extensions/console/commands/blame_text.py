"""A blamed object as text: its YAML, and before each field who wrote it, in which run, and when."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime

from rolecall.cli.spans import since
from rolecall.cli.terminal import Colour, Screen, cells, cut
from rolecall.extensions.console.blame import Blamed, LiveField
from rolecall.plain_text import plain

_PLAIN = re.compile(r"[A-Za-z/_][A-Za-z0-9_./:@+ -]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_RUN_LETTERS = 8
_LEAST_WHO = 24
_BAR = " │ "


def blame_lines(blamed: Sequence[Blamed], now: datetime, screen: Screen) -> list[str]:
    """As wide as the screen; what does not fit of a value is cut."""
    margins = [(_who(each), _run(each), _age(each, now)) for each in blamed]
    widths = [max((cells(row[place]) for row in margins), default=0) for place in range(3)]
    if screen.width is not None:
        widths[0] = min(widths[0], max(_LEAST_WHO, screen.width * 2 // 5))
    lines: list[str] = []
    before: tuple[str | int, ...] = ()
    for each, margin in zip(blamed, margins, strict=True):
        *parents, own = _yaml_lines(before, each.field)
        lines += [_line(("", "", ""), widths, text, screen, None) for text in parents]
        lines.append(_line(margin, widths, own, screen, _colour(each)))
        before = each.field.keys
    return lines


def who(each: Blamed) -> str:
    """The task with its place, or the manager."""
    if each.write is not None:
        words = " ".join(filter(None, (each.write.place, each.write.task)))
        marks = " (filled in)" if each.is_filled_in else " (?)" if each.is_doubtful else ""
        return (words or "outside of any task") + marks
    if each.manager is not None:
        through = f", {each.manager.subresource}" if each.manager.subresource else ""
        return f"{each.manager.manager} ({each.manager.operation}{through})"
    return ""


def value_text(value: object) -> str:
    """A value as YAML has it, in one line."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value.rstrip() if value == value.rstrip() else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _who(each: Blamed) -> str:
    return plain(who(each))


def _run(each: Blamed) -> str:
    return plain(each.write.run[:_RUN_LETTERS]) if each.write else ""


def _age(each: Blamed, now: datetime) -> str:
    at = each.write.at if each.write else each.manager.at if each.manager else None
    return since(at, now)


def _yaml_lines(before: Sequence[str | int], field: LiveField) -> list[str]:
    """The field's own line, after those of what is around it and was not shown yet."""
    keys = field.keys
    shared = 0
    while shared < min(len(before), len(keys) - 1) and before[shared] == keys[shared]:
        shared += 1
    lines, dashes = [], ""
    for depth in range(shared, len(keys)):
        key, is_last = keys[depth], depth == len(keys) - 1
        indent = "  " * (depth - len(dashes) // 2)
        value = f" {value_text(field.value)}" if is_last else ""
        if isinstance(key, int):
            if is_last:
                lines.append(f"{indent}{dashes}-{value}")
            dashes += "- "
            continue
        lines.append(f"{indent}{dashes}{_key_text(key)}:{value}")
        dashes = ""
    return lines


def _key_text(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key)


def _line(
    margin: Sequence[str],
    widths: Sequence[int],
    text: str,
    screen: Screen,
    colour: Colour | None,
) -> str:
    cut_margin = [cut(cell, width) for cell, width in zip(margin, widths, strict=True)]
    padded = [
        cell + " " * (width - cells(cell)) for cell, width in zip(cut_margin, widths, strict=True)
    ]
    words = "  ".join(padded)
    indent = len(text) - len(text.lstrip(" "))
    shown = " " * indent + plain(text)
    if screen.width is not None:
        shown = cut(shown, max(10, screen.width - cells(words) - len(_BAR)))
    return f"{screen.painted(words, colour)}{_BAR}{shown}".rstrip()


def _colour(each: Blamed) -> Colour | None:
    if each.write is not None:
        return Colour.GREEN
    return Colour.CYAN if each.manager is not None else None
