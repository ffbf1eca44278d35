"""One YAML map read by a table of keys: typed values out, located problems into the report.

Follows the Go operator's decoding: keys match without regard to case, `null` counts as absent, a text
may be written as a bare number or boolean, but a number or boolean may not be quoted. Where that
tolerance can hide a mistake (an unread key, a number that turns into another text), it warns.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import yaml

from rolecall.documents.duration import DurationError, parse_duration
from rolecall.documents.keys import Form, YamlKey
from rolecall.documents.nodes import (
    NOTHING,
    ShapeError,
    json_value,
    key_text,
    number_text,
    pairs,
    scalar_value,
)
from rolecall.documents.report import Report

_Value = TypeVar("_Value")
_INT_LIMIT = 1 << 63


class Fields:
    """The known keys of one map. Getters return None for what is absent, null, or was reported."""

    def __init__(
        self,
        node: yaml.MappingNode,
        keys: Sequence[YamlKey],
        report: Report,
        *,
        is_strict: bool = False,
        hint: str = "",
    ) -> None:
        """Strict: an unknown key is an error, with this hint, and not ignored as by the Go operator."""
        self.node = node
        self.line = report.line(node)
        self._report = report
        self._is_strict, self._hint = is_strict, hint
        self._keys = {key.name.casefold(): key for key in keys}
        self._values: dict[str, yaml.Node] = {}
        self._spelled: dict[str, str] = {}  # what this map itself says, not what it merged in
        own = {id(key) for key, _ in node.value}
        for key, value in self._or_nothing(lambda: pairs(node), "the map") or ():
            self._take(key, value, is_own=id(key) in own)

    def _take(self, key_node: yaml.Node, value: yaml.Node, *, is_own: bool) -> None:
        spelled = self._or_nothing(lambda: key_text(key_node), "the map")
        if spelled is None:
            return
        key = self._keys.get(spelled.casefold())
        if key is None:
            self._warn_unknown(self._report.line(key_node), spelled)
            return
        if is_own:
            self._warn_spelling(self._report.line(key_node), spelled, key.name)
            is_second_best = self._spelled.get(key.name) == key.name != spelled
            if is_second_best:
                return
            self._spelled[key.name] = spelled
        self._values[key.name] = value

    def _warn_spelling(self, line: int, spelled: str, name: str) -> None:
        if name in self._spelled:
            self._report.warn(line, f"`{name}` was given twice; only one of them counts")
        elif spelled != name:
            self._report.warn(line, f"`{spelled}` was read as `{name}`; write it that way")

    def _warn_unknown(self, line: int, spelled: str) -> None:
        nearest = difflib.get_close_matches(spelled.casefold(), self._keys, n=1)
        known = f"; did you mean `{self._keys[nearest[0]].name}`?" if nearest else ""
        if self._is_strict:
            self._report.error(line, f"unknown key `{spelled}`{known}", hint=self._hint)
        else:
            self._report.warn(line, f"unknown key `{spelled}` was ignored{known}")

    def _or_nothing(self, read: Callable[[], _Value], name: str) -> _Value | None:
        try:
            return read()
        except ShapeError as error:
            self._report.error(self._report.line(error.node), f"{name} {error}")
            return None

    def node_of(self, name: str) -> yaml.Node | None:
        """The node of a key, unless it is absent or null."""
        node = self._values.get(name)
        return None if node is None or node.tag == NOTHING else node

    def line_of(self, name: str) -> int:
        """The line of a key's value; of the whole map where the key is absent."""
        return self._report.line(self._values.get(name, self.node))

    def text(self, name: str) -> str:
        """A text; empty where absent."""
        return self._read(name, self._as_text) or ""

    def truth(self, name: str) -> bool | None:
        return self._read(name, self._as_truth)

    def whole(self, name: str) -> int | None:
        return self._read(name, self._as_whole)

    def duration(self, name: str) -> float | None:
        return self._read(name, self._as_duration)

    def limit(self, name: str, zero: str = "no limit") -> float | None:
        """A duration that is not negative; `zero`: what 0s means."""
        limit_s = self.duration(name)
        if limit_s is not None and limit_s < 0:
            line, hint = self.line_of(name), f"`0s` means {zero}"
            self._report.error(line, f"{name} must not be negative", hint=hint)
        return limit_s

    def choice(self, name: str) -> str:
        """A text out of the key's choices; empty where absent."""
        text = self.text(name)
        choices = self._keys[name.casefold()].choices
        if text and text not in choices:
            listed = ", ".join(f"`{choice}`" for choice in choices)
            self._report.error(self.line_of(name), f"{name} `{text}` is none of {listed}")
        return text

    def anything(self, name: str) -> Any:
        """Any JSON data; None where absent."""
        return self._read(name, json_value)

    def data(self, name: str) -> dict[str, Any]:
        """A map of any JSON data; empty where absent."""
        return self._read(name, self._as_data) or {}

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where absent."""
        return [self._item_text(name, item) for item in self.items(name)]

    def text_map(self, name: str) -> dict[str, str]:
        """A map of texts; empty where absent."""
        found = self.submap(name)
        if found is None:
            return {}
        rows = self._or_nothing(lambda: pairs(found), name) or []
        return {self._label(name, key): self._item_text(name, value) for key, value in rows}

    def _label(self, name: str, key: yaml.Node) -> str:
        return self._or_nothing(lambda: key_text(key), name) or ""

    def items(self, name: str) -> list[yaml.Node]:
        """The nodes of a list; empty where absent."""
        node = self.node_of(name)
        if node is None or isinstance(node, yaml.SequenceNode):
            return [] if node is None else list(node.value)
        self._report.error(self._report.line(node), f"{name} is {_shape(node)}, not a list")
        return []

    def submap(self, name: str) -> yaml.MappingNode | None:
        """The node of a map; None where absent."""
        node = self.node_of(name)
        if node is None or isinstance(node, yaml.MappingNode):
            return node
        self._report.error(self._report.line(node), f"{name} is {_shape(node)}, not a map")
        return None

    def _read(self, name: str, read: Callable[[yaml.Node], _Value]) -> _Value | None:
        node = self.node_of(name)
        return None if node is None else self._or_nothing(lambda: read(node), name)

    def _item_text(self, name: str, node: yaml.Node) -> str:
        if node.tag == NOTHING:
            return ""
        return self._or_nothing(lambda: self._as_text(node), name) or ""

    def _as_text(self, node: yaml.Node) -> str:
        value = scalar_value(_scalar(node, "a text"))
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            text = "true" if value else "false"
        else:
            text = number_text(value) if isinstance(value, float) else str(value)
        if text != node.value:
            self._report.warn(
                self._report.line(node),
                f"`{node.value}` was read as the string `{text}`; put it in quotes if that is right",
            )
        return text

    def _as_truth(self, node: yaml.Node) -> bool:
        value = scalar_value(_scalar(node, Form.TRUTH.value))
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.casefold() in ("true", "false"):
            raise ShapeError(
                node, f"`{value}` is a string in quotes, not true or false; remove the quotes"
            )
        raise ShapeError(node, f"`{node.value}` is not true or false")

    def _as_whole(self, node: yaml.Node) -> int:
        value = scalar_value(_scalar(node, "a whole number"))
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            hint = "; remove the quotes" if str(value).isdecimal() else ""
            raise ShapeError(node, f"`{node.value}` is not a whole number{hint}")
        if not -_INT_LIMIT <= value < _INT_LIMIT:
            raise ShapeError(node, f"`{node.value}` is too large")
        return value

    def _as_duration(self, node: yaml.Node) -> float:
        value = scalar_value(_scalar(node, "a duration"))
        try:
            if isinstance(value, str):
                return parse_duration(value)
        except DurationError:
            pass
        example = f"`{node.value}s`" if str(node.value).isdecimal() else "`30s` or `5m`"
        raise ShapeError(
            node, f"`{node.value}` is not a duration; use a number and a unit, such as {example}"
        )

    def _as_data(self, node: yaml.Node) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise ShapeError(node, f"is {_shape(node)}, not a map")
        data: dict[str, Any] = json_value(node)
        return data


def _scalar(node: yaml.Node, wanted: str) -> yaml.ScalarNode:
    if not isinstance(node, yaml.ScalarNode):
        raise ShapeError(node, f"is {_shape(node)}, not {wanted}")
    return node


def _shape(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a map"
    return "a list" if isinstance(node, yaml.SequenceNode) else f"`{node.value}`"
