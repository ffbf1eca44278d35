"""Puts one more key into a map of a YAML file, and leaves every other byte alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import yaml

from rolecall.errors import InputError
from rolecall_dev.scaffold.yaml_lists import last_line


def with_key(content: str, file: str, path: Sequence[str | int], value: Any) -> str:
    """The content with a value at a path of keys and indices; unchanged if there is one already."""
    wanted = yaml.safe_load(content)
    node: Any = yaml.compose(content)
    found, missing = wanted, list(path)
    while missing and (below := _below(node, missing[0])) is not None:
        node, found = below, found[missing.pop(0)]
    if not missing:
        return content
    for step in reversed(missing):
        value = {step: value}
    text = yaml.safe_dump(value, sort_keys=False)
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        found.update(value)
        lines, place = content.splitlines(), last_line(node) + 1
        block = textwrap.indent(text, " " * node.start_mark.column).splitlines()
        changed = "\n".join([*lines[:place], *block, *lines[place:]]) + "\n"
        if _loaded(changed) == wanted:
            return changed
    raise InputError(
        f"nothing was written, since {file} could not be extended without rewriting it",
        hint=f"add this to the map of line {node.start_mark.line + 1} by hand, and try again:\n"
        + textwrap.indent(text.rstrip(), "  "),
    )


def _below(node: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return node.value[step]
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == step), None)


def _loaded(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
