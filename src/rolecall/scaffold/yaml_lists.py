"""Puts one more item into a list of a YAML file, and leaves every other byte alone.

The file is a person's: comments, blank lines, quotes and order are theirs. So the item goes in as text,
at a scaffold mark where there is one, else after the last item; then the result is read back, and must
be what was there before with the item in it. Where that is not so (a list in `[...]`, anchors, several
documents) nothing is changed and the person gets the item to paste. Rejected: a round-trip YAML
library, which is one more dependency and still moves comments about.
"""

from __future__ import annotations

import re
import textwrap
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
        """What the text means."""
        return yaml.safe_load(self.text)[0]


def with_item(content: str, item: ListItem) -> str:
    """The content with the item; unchanged if it is in it already."""
    before = _list_in(content, item)
    if item.value in before:
        return content
    for lines in _candidates(content, item):
        changed = "\n".join(lines) + "\n"
        try:
            after = _list_in(changed, item)
        except InputError:
            continue
        if _is_one_more(before, after, item.value) and _rest(content, item) == _rest(changed, item):
            return changed
    raise InputError(
        f"nothing was written, since {item.file} could not be extended without rewriting it",
        hint=f"add this to the list{f' `{item.key}`' if item.key else ''} by hand, and try again:\n"
        + textwrap.indent(item.text.rstrip(), "  "),
    )


def _candidates(content: str, item: ListItem) -> list[list[str]]:
    """Places that could be right, the best first."""
    lines = content.rstrip("\n").split("\n") if content.strip() else ["---"]
    indent = _indent_of_items(lines, item)
    block = textwrap.indent(item.text.rstrip("\n"), indent).split("\n")
    mark = re.compile(rf"\s*#\s*\+kubebuilder:scaffold:{re.escape(item.mark)}\s*$")
    places = [number for number, line in enumerate(lines) if mark.match(line)]
    places.append(_end_of_list(lines, item))
    # An empty `[]` becomes a list of one.
    found = [[*lines[:place], *block, *lines[place:]] for place in places]
    if item.key is not None:
        bare = [re.sub(rf"^({re.escape(item.key)}:)\s*\[\s*\]\s*$", r"\1", line) for line in lines]
        if bare != lines:
            place = places[0] if len(places) > 1 else _end_of_list(bare, item)
            found.append([*bare[:place], *block, *bare[place:]])
    elif "[]" in lines:
        bare = [line for line in lines if line != "[]"]
        found.append([*bare, *block])
    if item.key is not None and not any(line.startswith(f"{item.key}:") for line in lines):
        found.append([*lines, f"{item.key}:", *block])
    return found


def _indent_of_items(lines: list[str], item: ListItem) -> str:
    for line in _lines_of_list(lines, item):
        if found := re.match(r"( *)- ", line):
            return found[1]
    return "  " if item.key is not None else ""


def _lines_of_list(lines: list[str], item: ListItem) -> list[str]:
    return lines[_start_of_list(lines, item) : _end_of_list(lines, item)]


def _start_of_list(lines: list[str], item: ListItem) -> int:
    if item.key is None:
        return 0
    for number, line in enumerate(lines):
        if line.startswith(f"{item.key}:"):
            return number + 1
    return len(lines)


def _end_of_list(lines: list[str], item: ListItem) -> int:
    """Behind the last line that belongs to an item; comments at the end stay behind it."""
    start = end = _start_of_list(lines, item)
    for number in range(start, len(lines)):
        line = lines[number]
        if item.key is not None and re.match(r"[^\s#-]", line):
            break
        if line.strip() and not line.lstrip().startswith("#") and line != "---":
            end = number + 1
    return end if end > start or item.key is not None else len(lines)


def _list_in(content: str, item: ListItem) -> list[Any]:
    try:
        found = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise InputError(f"{item.file} is not valid YAML: {error}") from error
    if item.key is not None and isinstance(found, dict):
        found = found.get(item.key)
    elif item.key is not None and found is not None:
        raise InputError(f"{item.file} must be a map")
    if not isinstance(found, list | None):
        raise InputError(f"{item.file}: {item.key or 'the content'} must be a list")
    return found or []


def _rest(content: str, item: ListItem) -> Any:
    """Everything but the list."""
    found = yaml.safe_load(content)
    if item.key is None or not isinstance(found, dict):
        return None
    return {key: value for key, value in found.items() if key != item.key}


def _is_one_more(before: list[Any], after: list[Any], value: Any) -> bool:
    return any(
        [*after[:at], *after[at + 1 :]] == before and after[at] == value for at in range(len(after))
    )
