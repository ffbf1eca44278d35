"""Kinds of values, and which of them a Jinja expression can have.

We name a kind only if it is certain; all else is unknown, and we report nothing about it: a false
alarm costs more trust than a miss costs time. An expression has a set of kinds, one for each of its
possible ways: `a and b | length` is false or a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import yaml
from jinja2 import nodes


class Kind(Enum):
    """What a value is; the value is how messages call it."""

    BOOL = "a boolean"
    TEXT = "text"
    NUMBER = "a number"
    LIST = "a list"
    MAP = "a map"
    NONE = "null"
    UNDEFINED = "undefined"  # of `x if y` without `else`
    RANGE = "a range"
    UNKNOWN = "unknown"


Kinds = frozenset[Kind]

BOOL = frozenset({Kind.BOOL})
TEXT = frozenset({Kind.TEXT})
NUMBER = frozenset({Kind.NUMBER})
LIST = frozenset({Kind.LIST})
MAP = frozenset({Kind.MAP})
NONE = frozenset({Kind.NONE})
UNKNOWN_KIND = frozenset({Kind.UNKNOWN})
NOTHING: Kinds = frozenset()

_TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())


def _by_name(table: Mapping[str, str]) -> dict[str, Kinds]:
    return {
        name: frozenset(Kind[kind] for kind in kinds.split())
        for kinds, names in table.items()
        for name in names.split()
    }


_FILTERS, _METHODS = _by_name(_TABLES["filters"]), _by_name(_TABLES["methods"])
_TEXT_LOOKUPS = frozenset(("env", "file", "fileglob", "password", "pipe", "template"))


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a variable: its kinds, and its parts if it is a map."""

    kinds: Kinds = UNKNOWN_KIND
    parts: Mapping[str, Shape] = field(default_factory=dict)


class Scope(Protocol):
    """Where names are looked up."""

    def shape(self, name: str) -> Shape: ...


def kinds_of(node: nodes.Node, scope: Scope) -> Kinds:
    """All kinds that the expression can have."""
    for types, infer in _INFERENCES:
        if isinstance(node, types):
            return infer(node, scope)
    return UNKNOWN_KIND


def shape_of(node: nodes.Node, scope: Scope) -> Shape:
    """What is known of a variable or of a part of one."""
    if isinstance(node, nodes.Name):
        return scope.shape(node.name)
    part = part_of(node)
    if part is None or not isinstance(node, (nodes.Getattr, nodes.Getitem)):
        return Shape()
    return shape_of(node.node, scope).parts.get(part, Shape())


def part_of(node: nodes.Node) -> str | None:
    """The name behind the dot, or in the brackets."""
    if isinstance(node, nodes.Getattr):
        return node.attr
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        return node.arg.value if isinstance(node.arg.value, str) else None
    return None


def kinds_of_data(value: Any) -> Kinds:
    """The kind of what was read from YAML; text without a template."""
    # A boolean is an integer too, so it comes first.
    for types, kinds in (
        (bool, BOOL),
        ((int, float), NUMBER),
        (str, TEXT),
        (list, LIST),
        (dict, MAP),
        (type(None), NONE),
    ):
        if isinstance(value, types):
            return kinds
    return UNKNOWN_KIND


def filter_name(name: str) -> str:
    """Without `ansible.builtin.`; a filter of another collection keeps its full name."""
    return name.removeprefix("ansible.builtin.")


def gives_text(filter_name: str) -> bool:
    """Whether what a filter gives is text, whatever it gets."""
    return _FILTERS.get(filter_name) == TEXT


def _const(node: Any, _scope: Scope) -> Kinds:
    if isinstance(node.value, tuple):
        return LIST
    return kinds_of_data(node.value)


def _and(node: Any, scope: Scope) -> Kinds:
    # The left side is the result where it is false. A map or list that is never empty is no such
    # case, but who can know: only a boolean, which is `False` then, is certain.
    left = kinds_of(node.left, scope)
    return left | kinds_of(node.right, scope)


def _cond(node: Any, scope: Scope) -> Kinds:
    other = kinds_of(node.expr2, scope) if node.expr2 else frozenset({Kind.UNDEFINED})
    return kinds_of(node.expr1, scope) | other


def _filter(node: Any, scope: Scope) -> Kinds:
    name = filter_name(node.name)
    if name in ("default", "d"):
        return _default(node, scope)
    if name == "ternary":
        return frozenset().union(*(kinds_of(arg, scope) for arg in node.args)) or UNKNOWN_KIND
    return _FILTERS.get(name, UNKNOWN_KIND)


def _default(node: Any, scope: Scope) -> Kinds:
    given = kinds_of(node.node, scope) if node.node is not None else UNKNOWN_KIND
    other = kinds_of(node.args[0], scope) if node.args else TEXT
    if _is_omit(node.args):
        other = NOTHING
    takes_false = bool(node.args[1:] or node.kwargs)
    return (given - NONE if takes_false else given) | other or UNKNOWN_KIND


def _is_omit(args: list[Any]) -> bool:
    return bool(args) and isinstance(args[0], nodes.Name) and args[0].name == "omit"


def _call(node: Any, scope: Scope) -> Kinds:
    called = node.node
    if isinstance(called, nodes.Name):
        return _function(called.name, node)
    if isinstance(called, nodes.Getattr) and Kind.MAP not in kinds_of(called.node, scope):
        return _METHODS.get(called.attr, UNKNOWN_KIND)
    return UNKNOWN_KIND


def _function(name: str, node: Any) -> Kinds:
    if name in ("query", "q"):
        return LIST
    if name == "range":
        return frozenset({Kind.RANGE})
    if name != "lookup" or not node.args or not isinstance(node.args[0], nodes.Const):
        return UNKNOWN_KIND
    plugin = str(node.args[0].value).removeprefix("ansible.builtin.")
    if any(it.key == "wantlist" for it in node.kwargs):
        return UNKNOWN_KIND
    forgiving = any(it.key == "errors" and _value(it.value) != "strict" for it in node.kwargs)
    found = TEXT if plugin in _TEXT_LOOKUPS else UNKNOWN_KIND
    return found | NONE if forgiving else found


def _value(node: Any) -> Any:
    return node.value if isinstance(node, nodes.Const) else None


def _add(node: Any, scope: Scope) -> Kinds:
    left, right = kinds_of(node.left, scope), kinds_of(node.right, scope)
    for kinds in (TEXT, LIST):
        if kinds in (left, right):
            return kinds
    return NUMBER if left == right == NUMBER else UNKNOWN_KIND


def _arithmetic(node: Any, scope: Scope) -> Kinds:
    both = kinds_of(node.left, scope), kinds_of(node.right, scope)
    return NUMBER if both == (NUMBER, NUMBER) else UNKNOWN_KIND


def _variable(node: Any, scope: Scope) -> Kinds:
    return shape_of(node, scope).kinds


def _always(kinds: Kinds) -> Callable[[Any, Scope], Kinds]:
    return lambda _node, _scope: kinds


_INFERENCES: tuple[tuple[Any, Callable[[Any, Scope], Kinds]], ...] = (
    ((nodes.Compare, nodes.Not, nodes.Test), _always(BOOL)),
    ((nodes.Name, nodes.Getattr, nodes.Getitem), _variable),
    (nodes.TemplateData, _always(TEXT)),
    (nodes.Const, _const),
    ((nodes.And, nodes.Or), _and),
    (nodes.CondExpr, _cond),
    (nodes.Filter, _filter),
    (nodes.Call, _call),
    (nodes.Add, _add),
    ((nodes.Sub, nodes.Div, nodes.FloorDiv, nodes.Pow), _arithmetic),
    (nodes.Concat, _always(TEXT)),
    ((nodes.List, nodes.Tuple), _always(LIST)),
    (nodes.Dict, _always(MAP)),
)


# Expressions as messages show them, and what to write instead of them.

_LONGEST = 90
_ELLIPSIS = "..."


def shown_expression(node: nodes.Node, written: str = "") -> str:
    """The expression as its author wrote it, or `...` where that would be too long to help.

    `written` is the text of the whole expression, where that is known.
    """
    text = " ".join(written.split()) or _text_of(node)
    return text if len(text) <= _LONGEST else _ELLIPSIS


def _text_of(node: Any) -> str:
    for types, text_of in _BY_TYPE:
        if isinstance(node, types):
            return text_of(node)
    return _ELLIPSIS


def _text_of_part(node: Any) -> str:
    if isinstance(node, nodes.Getattr):
        return f"{_text_of(node.node)}.{node.attr}"
    return f"{_text_of(node.node)}[{_text_of(node.arg)}]"


def _text_of_filter(node: Any) -> str:
    if node.node is None:  # of a `{% filter %}` block
        return _ELLIPSIS
    return f"{_text_of(node.node)} | {filter_name(node.name)}{_text_of_arguments(node)}"


def _text_of_list(node: Any) -> str:
    return f"[{', '.join(_text_of(item) for item in node.items)}]"


def _text_of_map(node: Any) -> str:
    return _ELLIPSIS if node.items else "{}"


def _text_of_arguments(node: Any) -> str:
    arguments = [_text_of(arg) for arg in node.args]
    arguments += [f"{it.key}={_text_of(it.value)}" for it in node.kwargs]
    return f"({', '.join(arguments)})" if arguments else ""


_BY_TYPE: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (nodes.Name, lambda node: str(node.name)),
    (nodes.Const, lambda node: repr(node.value)),
    ((nodes.Getattr, nodes.Getitem), _text_of_part),
    (nodes.Filter, _text_of_filter),
    (nodes.Call, lambda node: f"{_text_of(node.node)}{_text_of_arguments(node) or '()'}"),
    ((nodes.List, nodes.Tuple), _text_of_list),
    (nodes.Dict, _text_of_map),
)


def named(kinds: Kinds) -> str:
    """`text or a number`."""
    return " or ".join(sorted(kind.value for kind in kinds))


def as_boolean(node: nodes.Node, kinds: Kinds, shown: str) -> str:
    """A condition with the same meaning in every ansible-core; `shown` is its text in messages."""
    if isinstance(node, nodes.Filter):
        name = filter_name(node.name)
        if name in ("length", "count"):
            return f"`{shown} > 0`" if _ELLIPSIS not in shown else f"`... | {name} > 0`"
        if name == "regex_search" and node.node is not None:
            return f"`{_search(node)}`"
    if isinstance(node, nodes.CondExpr) or Kind.UNDEFINED in kinds:
        return "`true` or `false` in each branch, with an `else`"
    if _ELLIPSIS in shown:
        return "`(...) is truthy`"
    if isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        return f"`{shown} is truthy`"
    return f"`({shown}) is truthy`"


def _search(node: Any) -> str:
    subject = shown_expression(node.node)
    if len(node.args) == 1 and isinstance(node.args[0], nodes.Const) and subject != _ELLIPSIS:
        return f"{subject} is search({node.args[0].value!r})"
    return "... is search('...')"
