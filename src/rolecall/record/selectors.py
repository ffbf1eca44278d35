"""Selectors in the form in which requests carry them: of labels, and the little that is sure of fields.

`app=web`, `tier in (a, b)`, `!canary` and the rest of the API server's grammar. `selects` refuses what
it cannot read; for `meets_selector` that meets: its caller asks whether a list may have shown an
object, and must not take "unread" for "no".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SET = re.compile(r"^\s*(?P<key>[^\s,!=()]+)\s+(?P<op>in|notin)\s*\((?P<values>[^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*(?P<key>[^\s,!=()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s,()=!]*)\s*$")
_THERE = re.compile(r"^\s*(?P<not>!?)\s*(?P<key>[^\s,!=()]+)\s*$")
_COMPARE = re.compile(r"^\s*(?P<key>[^\s,!=()<>]+)\s*(?P<op>[<>])\s*(?P<value>-?\d+)\s*$")


class SelectorError(ValueError):
    """A selector that cannot be read."""


def selects(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether a label selector holds for these labels."""
    return all(_holds(term, labels) for term in _terms(selector))


def meets_selector(labels: Mapping[str, str], selector: str) -> bool:
    """Whether an object with these labels may be in a list with this selector; empty: all are."""
    return all(_may_hold(term, labels) for term in _terms(selector))


def _may_hold(term: str, labels: Mapping[str, str]) -> bool:
    try:
        return _holds(term, labels)
    except SelectorError:
        return True


def _terms(selector: str) -> list[str]:
    terms, depth, start = [], 0, 0
    for place, letter in enumerate(selector):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            terms.append(selector[start:place])
            start = place + 1
    terms.append(selector[start:])
    return [term for term in terms if term.strip()]


def _holds(term: str, labels: Mapping[str, str]) -> bool:
    if match := _SET.match(term):
        values = {value.strip() for value in match["values"].split(",")}
        is_in = labels.get(match["key"]) in values
        return is_in if match["op"] == "in" else not is_in
    if match := _EQUAL.match(term):
        is_equal = labels.get(match["key"]) == match["value"]
        return is_equal if match["op"] != "!=" else not is_equal
    if match := _COMPARE.match(term):
        said = labels.get(match["key"], "")
        if not re.fullmatch(r"-?\d+", said):
            return False
        has, asked = int(said), int(match["value"])
        return has > asked if match["op"] == ">" else has < asked
    if match := _THERE.match(term):
        return (match["key"] in labels) != bool(match["not"])
    raise SelectorError(f"unable to parse requirement: `{term}`")


def names_of_fields(selector: str) -> dict[str, str] | None:
    """The name and namespace that a field selector asks for; None where it asks for more."""
    wanted: dict[str, str] = {}
    for term in filter(None, (part.strip() for part in selector.split(","))):
        field, separator, value = term.replace("==", "=").partition("=")
        is_known = field in ("metadata.name", "metadata.namespace")
        if not separator or field.endswith("!") or not is_known:
            return None
        wanted[field.removeprefix("metadata.")] = value
    return wanted
