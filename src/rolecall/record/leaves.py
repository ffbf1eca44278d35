"""Paths of the fields in a write's body: `.spec.template.spec.containers[name="web"].image`.

The same words for a body and for the object that it became, so that both can be compared. An element of
a list is named by its `name` where all have one of their own, as Kubernetes merges them, else by its
place. Values are left out; that of `name` is the exception, and only where it looks like a name.

A body that is YAML and not JSON is read for its shape alone; what YAML has beyond that does not matter
for paths.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import yaml

# Of one write; an object has some dozens. More would outweigh what the record is for.
MOST_LEAVES = 400
_PATCH_TYPES = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_STEP = re.compile(
    r'\.(?P<key>[A-Za-z_][A-Za-z0-9_-]*)|\["(?P<quoted>(?:[^"\\]|\\.)*)"\]|\[(?P<number>[0-9]+)\]'
    r'|\[name="?(?P<name>[A-Za-z0-9_.-]+)"?\]'
)
_POINTER_PART = re.compile(r"/([^/]*)")
# Longer bodies are not read on the way, either.
_LONGEST_BYTES = 1024 * 1024


def patch_type_of(media_type: str) -> str:
    """json, merge, strategic or apply; empty for a whole object."""
    return _PATCH_TYPES.get(media_type, "")


def leaves_of_write(media_type: str, body: bytes) -> tuple[str, ...]:
    """Paths of the fields that a write's body sets; empty where it cannot be read."""
    if len(body) > _LONGEST_BYTES:
        return ()
    value = parsed_body(media_type, body)
    return _first(_of_operations(value) if patch_type_of(media_type) == "json" else _leaves(value))


def leaves_of_object(value: Any) -> tuple[str, ...]:
    """Paths of all fields of an object that have no fields of their own."""
    return _first(_leaves(value))


def steps_of_path(path: str) -> tuple[str, ...] | None:
    """A path, step by step, each written as above; None where it is none."""
    steps, place = [], 0
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None:
            return None
        name = found["name"]
        steps.append(found[0] if name is None else f'[name="{name}"]')
        place = found.end()
    return tuple(steps)


def _first(paths: Iterator[str]) -> tuple[str, ...]:
    """None of something that is nested deeper than anything that the API server takes."""
    with contextlib.suppress(RecursionError):
        return tuple(islice(paths, MOST_LEAVES))
    return ()


def parsed_body(media_type: str, body: bytes) -> Any:
    """A write's body, whose YAML has texts alone; None where it cannot be read."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    if not media_type.endswith("yaml"):
        return None
    try:
        # libyaml's own loader is faster, and ends the process where a body has a thousand brackets.
        return yaml.load(body, Loader=yaml.BaseLoader)  # noqa: S506 - makes texts only
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _leaves(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}{key_step(str(key))}")
    elif isinstance(value, list) and value:
        for step, item in zip(element_steps(value), value, strict=True):
            yield from _leaves(item, f"{path}{step}")
    elif path:
        yield path


def key_step(key: str) -> str:
    """What a key of an object adds to a path."""
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key)}]"


def element_steps(items: list[Any]) -> list[str]:
    """What each element of a list adds to its path."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    are_names = all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
    if are_names and len(set(names)) == len(names):
        return [f'[name="{name}"]' for name in names]
    return [f"[{number}]" for number in range(len(items))]


def _of_operations(value: Any) -> Iterator[str]:
    """The paths of a JSON patch, which are pointers."""
    for operation in value if isinstance(value, list) else ():
        pointer = operation.get("path") if isinstance(operation, dict) else None
        if isinstance(pointer, str) and operation.get("op") != "test":
            parts = [_unescaped(part) for part in _POINTER_PART.findall(pointer)]
            path = "".join(f"[{part}]" if part.isdigit() else key_step(part) for part in parts)
            below = tuple(_leaves(operation.get("value"), path))
            yield from below or (path,)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
