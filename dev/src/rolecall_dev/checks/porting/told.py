"""Expressions as messages show them, and what to write instead of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from rolecall_dev.checks.porting.kinds import Kind, Kinds, filter_name

_LONGEST = 90
_ELLIPSIS = "..."


def told(node: nodes.Node, written: str = "") -> str:
    """The expression as its author wrote it, or `...` where that would be too long to help.

    `written` is the text of the whole expression, where that is known.
    """
    text = " ".join(written.split()) or _told(node)
    return text if len(text) <= _LONGEST else _ELLIPSIS


def _told(node: Any) -> str:
    for types, tell in _BY_TYPE:
        if isinstance(node, types):
            return tell(node)
    return _ELLIPSIS


def _told_part(node: Any) -> str:
    if isinstance(node, nodes.Getattr):
        return f"{_told(node.node)}.{node.attr}"
    return f"{_told(node.node)}[{_told(node.arg)}]"


def _told_filter(node: Any) -> str:
    if node.node is None:  # of a `{% filter %}` block
        return _ELLIPSIS
    return f"{_told(node.node)} | {filter_name(node.name)}{_told_arguments(node)}"


def _told_list(node: Any) -> str:
    return f"[{', '.join(_told(item) for item in node.items)}]"


def _told_map(node: Any) -> str:
    return _ELLIPSIS if node.items else "{}"


def _told_arguments(node: Any) -> str:
    arguments = [_told(arg) for arg in node.args]
    arguments += [f"{it.key}={_told(it.value)}" for it in node.kwargs]
    return f"({', '.join(arguments)})" if arguments else ""


_BY_TYPE: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (nodes.Name, lambda node: str(node.name)),
    (nodes.Const, lambda node: repr(node.value)),
    ((nodes.Getattr, nodes.Getitem), _told_part),
    (nodes.Filter, _told_filter),
    (nodes.Call, lambda node: f"{_told(node.node)}{_told_arguments(node) or '()'}"),
    ((nodes.List, nodes.Tuple), _told_list),
    (nodes.Dict, _told_map),
)


def named(kinds: Kinds) -> str:
    """`text or a number`."""
    return " or ".join(sorted(kind.value for kind in kinds))


def as_boolean(node: nodes.Node, kinds: Kinds, shown: str) -> str:
    """A condition that means the same under every ansible-core; `shown` is how it is told."""
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
    subject = told(node.node)
    if len(node.args) == 1 and isinstance(node.args[0], nodes.Const) and subject != _ELLIPSIS:
        return f"{subject} is search({node.args[0].value!r})"
    return "... is search('...')"
