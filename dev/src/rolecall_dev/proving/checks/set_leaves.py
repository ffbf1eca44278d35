"""The leaves of an object that a role set, and how one of them is given another value.

What a role set is read from the bodies of its writes, and not from the object: what others wrote is
nobody's business here. A path names an element of a list by its name where it has one, else by its
place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall_dev.proving.model import Subject
from rolecall_dev.staging import SeenRequest

_NOT_ITS_OWN = frozenset({"apiVersion", "kind", "status"})
_NOT_IN_METADATA = frozenset(
    {
        *("name", "namespace", "ownerReferences", "generateName", "finalizers"),
        # Sent along by those who send what they have read.
        *("resourceVersion", "uid", "generation", "creationTimestamp", "managedFields", "selfLink"),
    }
)
_MOST_LEAVES = 60

LeafPath = tuple[str | int, ...]


def set_leaves(subject: Subject, obj: Json) -> list[tuple[LeafPath, Any]]:
    """Those that plays set, with their values as they are now; what an object is for comes first."""
    leaves: dict[LeafPath, None] = {}
    for write in writes_to(subject, obj):
        body = _body(write)
        for key, value in body.items():
            if key in _NOT_ITS_OWN:
                continue
            for steps in _leaf_steps(value, (key,)):
                is_name = steps[0] == "metadata" and len(steps) > 1 and steps[1] in _NOT_IN_METADATA
                # The owner's annotations are the engine's, and those of kubectl are notes of a client.
                is_owner = str(steps[-1]).startswith(("operator-sdk/", "kubectl.kubernetes.io/"))
                if not is_name and not is_owner and steps[-1] != "name":
                    leaves[steps] = None
    # Labels and annotations last: what an object does is in the rest.
    found = []
    for steps in sorted(leaves, key=lambda it: it[0] == "metadata")[:_MOST_LEAVES]:
        value = leaf_value(obj, steps)
        if isinstance(value, bool | int | float | str):
            found.append((steps, value))
    return found


def writes_to(subject: Subject, obj: Json) -> list[SeenRequest]:
    """Writes about one object: by the name in the path, or in the body of a create."""
    name, gvk = obj["metadata"]["name"], Gvk.parse(obj["apiVersion"], obj["kind"])
    found = []
    for each in subject.undisturbed.effects:
        body = _body(each)
        about = each.info.name or as_map(body.get("metadata")).get("name")
        generated = str(as_map(body.get("metadata")).get("generateName") or "\0")
        is_it = about == name or name.startswith(generated)
        kind = body.get("kind")
        if is_it and (kind is None or kind == gvk.kind or gvk.kind.partition(".")[0] == kind):
            found.append(each)
    return found


def other_values(value: Any) -> Iterator[Any]:
    """Values beside this one, of which the API server may take the first or a later one."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value - 1)
        case str() if value.isdigit():
            yield from (str(int(value) + 1), f"{value}x")
        case str():
            yield from (f"{value}x", f"x{value}", "2Gi", "Never")


def set_leaf(obj: Any, steps: LeafPath, value: Any) -> bool:
    """Set one leaf; whether it was there."""
    for step in steps[:-1]:
        obj = _below(obj, step)
        if obj is None:
            return False
    last = steps[-1]
    if isinstance(obj, dict) and last in obj:
        obj[last] = value
        return True
    if isinstance(obj, list) and isinstance(last, int) and last < len(obj):
        obj[last] = value
        return True
    return False


def leaf_value(obj: Any, steps: LeafPath) -> Any:
    for step in steps:
        obj = _below(obj, step)
    return obj


def shown_leaf(steps: LeafPath) -> str:
    return "." + ".".join(map(str, steps))


def _below(obj: Any, step: str | int) -> Any:
    if isinstance(obj, dict):
        return obj.get(step)
    if isinstance(obj, list) and isinstance(step, int):
        return obj[step] if step < len(obj) else None
    if isinstance(obj, list):
        return next(
            (it for it in obj if isinstance(it, dict) and f"name={it.get('name')}" == step), None
        )
    return None


def _leaf_steps(value: Any, steps: LeafPath) -> Iterator[LeafPath]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaf_steps(item, (*steps, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            named = isinstance(item, dict) and isinstance(item.get("name"), str)
            yield from _leaf_steps(item, (*steps, f"name={item['name']}" if named else number))
    else:
        yield steps


def _body(request: SeenRequest) -> Json:
    """Empty where it is no JSON, or a patch by steps."""
    try:
        return as_map(json.loads(request.body))
    except (ValueError, RecursionError):
        return {}
