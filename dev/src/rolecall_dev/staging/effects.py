"""What differs between two states of an object, path by path, in words for people.

Reports are kept by build servers, so what a Secret holds is shown as a digest: enough to see that it
differs.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rolecall.json_object import Json
from rolecall.record import element_steps, key_step

Leaves = dict[str, Any]
_LONGEST = 80
_COUNTED_BY_SERVER = frozenset({"managedFields", "resourceVersion", "generation"})


def leaves_of(value: Any, path: str = "") -> Leaves:
    """Every value that holds no others, by its path; an empty map or list is one."""
    found: Leaves = {}
    if isinstance(value, dict) and value:
        for key, item in value.items():
            found |= leaves_of(item, f"{path}{key_step(str(key))}")
    elif isinstance(value, list) and value:
        for step, item in zip(element_steps(value), value, strict=True):
            found |= leaves_of(item, f"{path}{step}")
    else:
        found[path] = value
    return found


def changed_leaves(before: Json, after: Json) -> tuple[str, ...]:
    """`.spec.replicas: 3 -> 5` for each leaf that differs, without what the API server counts."""
    old, new = leaves_of(_told(before)), leaves_of(_told(after))
    return tuple(
        f"{path}: {shown_value(old.get(path, NO_VALUE))} -> {shown_value(new.get(path, NO_VALUE))}"
        for path in sorted(old.keys() | new.keys())
        if old.get(path, NO_VALUE) != new.get(path, NO_VALUE)
    )


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


NO_VALUE = _Missing()


def shown_value(value: Any) -> str:
    """A value as it stands in a difference, shortened."""
    if value is NO_VALUE:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def without_secrets(obj: Json) -> Json:
    """The object; of a Secret, digests in place of what it holds."""
    if obj.get("kind") != "Secret":
        return obj
    hidden = {
        key: {name: _digest(value) for name, value in held.items()}
        for key, held in obj.items()
        if key in ("data", "stringData") and isinstance(held, dict)
    }
    return {**obj, **hidden}


def _digest(value: Any) -> str:
    return f"<secret {hashlib.sha256(str(value).encode()).hexdigest()[:8]}>"


def _told(obj: Json) -> Json:
    metadata = obj.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    return {
        **without_secrets(obj),
        "metadata": {key: value for key, value in kept.items() if key not in _COUNTED_BY_SERVER},
    }
