"""Puts one more item into a list of a YAML file, and leaves every other byte alone.

The file is a person's: comments, blank lines, quotes and order are theirs. So the item goes in as text,
at a scaffold mark where there is one, else after the last item; then the result is read back, and must
be what was there before with the item in it. Where that is not so (a list in `[...]`, several
documents) nothing is changed and the person gets the item to paste. Rejected: ruamel.yaml, which keeps
comments, and writes quotes, spaces and line breaks anew in a third of our own YAML files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from rolecall.errors import InputError


@dataclass(frozen=True, slots=True)
class ListItem:
    """What goes where. `key` names the list below the document's root; None: the root is the list."""

    file: str
    mark: str  # as in `+kubebuilder:scaffold:<mark>`
    text: str  # the item, beginning with `- `, not indented; comment lines may come before
    key: str | None = None

    @property
    def value(self) -> Any:
        return yaml.safe_load(self.text)[0]


def with_item(content: str, item: ListItem) -> str:
    """The content with the item; unchanged if it is in it already."""
    before, rest = _read(content, item)
    if item.value in before:
        return content
    for changed in _candidates(content, item):
        try:
            after = _read(changed, item)
        except InputError:
            continue
        if any(
            after == ([*before[:at], item.value, *before[at:]], rest)
            for at in range(len(before) + 1)
        ):
            return changed
    raise InputError(
        f"nothing was written, since {item.file} could not be extended without rewriting it",
        hint=f"add this to the list{f' `{item.key}`' if item.key else ''} by hand, and try again:\n"
        + textwrap.indent(item.text.rstrip(), "  "),
    )


def without_item(content: str, item: ListItem) -> str:
    """The content without the item, and without a list that nothing else is in."""
    before, rest = _read(content, item)
    if item.value not in before:
        return content
    kept = [line for line in content.splitlines() if line.strip() != item.text.strip()]
    if len(before) == 1:
        kept = [line for line in kept if line.rstrip() != f"{item.key}:"]
    changed = "\n".join(kept) + "\n"
    if _read(changed, item) != ([each for each in before if each != item.value], rest):
        raise InputError(
            f"nothing was written, since `{item.value}` could not be taken out of {item.file}",
            hint="take it out by hand, and try again",
        )
    return changed


def _read(content: str, item: ListItem) -> tuple[list[Any], Any]:
    """The list, and everything else."""
    try:
        found = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise InputError(f"{item.file} is not valid YAML: {error}") from error
    rest = None
    if item.key is not None:
        if not isinstance(found, dict | None):
            raise InputError(f"{item.file} must be a map")
        rest = dict(found or {})
        found = rest.pop(item.key, None)
    if not isinstance(found, list | None):
        raise InputError(f"{item.file}: {item.key or 'the content'} must be a list")
    return found or [], rest


def _candidates(content: str, item: ListItem) -> Iterator[str]:
    """With the item in places that could be right, the best first."""
    lines = content.rstrip("\n").split("\n") if content.strip() else ["---"]
    indent, end = _end_of_list(lines, yaml.compose(content), item)
    block = textwrap.indent(item.text.rstrip("\n"), indent).split("\n")
    mark = re.compile(rf"\s*#\s*\+kubebuilder:scaffold:{re.escape(item.mark)}\s*$")
    for place in (*(at for at, line in enumerate(lines) if mark.match(line)), end):
        yield "\n".join([*lines[:place], *block, *lines[place:]]) + "\n"


def _end_of_list(lines: list[str], root: yaml.Node | None, item: ListItem) -> tuple[str, int]:
    """How its items are indented, and the line behind the last; a list that is not there is begun."""
    found = root
    key_line = -1
    if item.key is not None:
        pairs = root.value if isinstance(root, yaml.MappingNode) else []
        keys = [(key.start_mark.line, value) for key, value in pairs if key.value == item.key]
        if not keys:
            lines.append(f"{item.key}:")
            return "  ", len(lines)
        key_line, found = keys[0]
    if isinstance(found, yaml.SequenceNode) and found.value:
        return " " * found.start_mark.column, last_line(found) + 1
    if isinstance(found, yaml.SequenceNode):  # `[]` becomes a list of one
        line = found.start_mark.line
        lines[line] = lines[line][: found.start_mark.column].rstrip()
        if not lines[line]:
            del lines[line]
    return ("", len(lines)) if item.key is None else ("  ", key_line + 1)


def last_line(node: yaml.Node) -> int:
    """Where the content of a node ends; comments behind it are not part of it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        children = [each for entry in node.value for each in _nodes(entry)]
        return max(last_line(child) for child in children)
    end = node.end_mark
    return int(end.line) - (end.column == 0)


def _nodes(entry: Any) -> tuple[yaml.Node, ...]:
    return entry if isinstance(entry, tuple) else (entry,)
