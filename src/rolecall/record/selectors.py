"""Whether labels meet a label selector in the form in which requests carry it.

`app=web`, `tier in (a, b)`, `!canary` and the rest of the API server's grammar. What cannot be read
meets: whoever asks wants to know whether a list may have shown an object, and must not take "unread"
for "no".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)")
_EQUAL = re.compile(r"([^=!\s]+)\s*(==|=|!=)\s*(\S*)")
_EXISTS = re.compile(r"(!?)\s*([^=!\s(),]+)")
_COMMAS_OUTSIDE = re.compile(r",(?![^(]*\))")


def meets_selector(labels: Mapping[str, str], selector: str) -> bool:
    """Whether an object with these labels is in a list with this selector; empty: all are."""
    parts = (part.strip() for part in _COMMAS_OUTSIDE.split(selector))
    return all(_meets(labels, part) for part in parts if part)


def _meets(labels: Mapping[str, str], part: str) -> bool:
    if found := _SET.fullmatch(part):
        values = {value.strip() for value in found[3].split(",")}
        return (labels.get(found[1]) in values) == (found[2] == "in")
    if found := _EQUAL.fullmatch(part):
        return (labels.get(found[1]) == found[3]) == (found[2] != "!=")
    if found := _EXISTS.fullmatch(part):
        return (found[2] in labels) == (not found[1])
    return True
