"""A blamed object as lines of YAML, and who wrote each, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from rolecall.extensions.console.blame.fields import LiveField
from rolecall.extensions.console.blame.verdict import Blamed

_PLAIN = re.compile(r"[A-Za-z/_][A-Za-z0-9_./:@+ -]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


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


def yaml_lines(before: Sequence[str | int], field: LiveField) -> list[str]:
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


def value_text(value: object) -> str:
    """A value as YAML has it, in one line."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value.rstrip() if value == value.rstrip() else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _key_text(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key)
