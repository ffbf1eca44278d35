"""Patches of objects that only a plan knows: merge patch, JSON patch, strategic merge patch.

The first two follow their RFCs (7386, 6902) to the letter. A strategic patch needs to know by which
field the elements of a list are merged, which Kubernetes keeps in its Go types: the table below holds
the lists that manifests patch. A list that is not in it is replaced, as Kubernetes does for one
without a merge key. The API server judges the outcome afterwards; the plan reports that it was computed
here (*approximate*).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from rolecall.json_object import Json

# The field by which elements are merged, by the list's own name; of `ports` the first that they have.
_MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"),
    "resourceClaims": ("name",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "webhooks": ("name",),
}
_SCALAR_SETS = frozenset({"finalizers"})


class UnfitPatchError(ValueError):
    """A patch that cannot be applied; the text is what an API server would say."""


def merge_patched(there: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(there) if isinstance(there, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patched(merged.get(key), value)
    return merged


def json_patched(there: Any, steps: Any) -> Any:
    """RFC 6902; raises `UnfitPatchError`, and then nothing of it counts."""
    if not isinstance(steps, list):
        raise UnfitPatchError("a JSON patch is a list of operations")
    document = copy.deepcopy(there)
    for step in steps:
        if not isinstance(step, dict):
            raise UnfitPatchError("an operation of a JSON patch is an object")
        document = _after_step(document, step)
    return document


def strategic_patched(there: Any, patch: Any) -> Any:
    """Kubernetes' strategic merge patch, by the table above."""
    if not isinstance(patch, dict):
        raise UnfitPatchError("a strategic merge patch is an object")
    if patch.get("$patch") == "replace":
        return {key: copy.deepcopy(value) for key, value in patch.items() if key != "$patch"}
    merged = dict(there) if isinstance(there, dict) else {}
    if isinstance(kept := patch.get("$retainKeys"), list):
        merged = {key: value for key, value in merged.items() if key in kept}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            merged[name] = [item for item in merged.get(name) or [] if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            _merge_map(merged, key, value)
        elif isinstance(value, list):
            merged[key] = _merged_list(key, merged.get(key), value)
        else:
            merged[key] = value
    return merged


def applied(there: Json, intent: Json) -> Json:
    """The intent of an apply over an object: as a strategic patch that takes nothing away."""
    merged: Json = strategic_patched(there, intent)
    return merged


def _merge_map(merged: Json, key: str, value: Json) -> None:
    if value.get("$patch") == "delete":
        merged.pop(key, None)
    else:
        merged[key] = strategic_patched(merged.get(key), value)


def _merged_list(name: str, there: Any, patch: list[Any]) -> list[Any]:
    present = list(there) if isinstance(there, list) else []
    if any(isinstance(row, dict) and row.get("$patch") == "replace" for row in patch):
        return [
            copy.deepcopy(row) for row in patch if not (isinstance(row, dict) and "$patch" in row)
        ]
    if name in _SCALAR_SETS and not any(isinstance(row, dict) for row in patch):
        return [*present, *(row for row in patch if row not in present)]
    key = _merge_key(name, [*present, *patch])
    if not key:
        return copy.deepcopy(patch)
    for row in patch:
        _merge_row(present, key, row)
    return present


def _merge_key(name: str, rows: list[Any]) -> str:
    for key in _MERGE_KEYS.get(name, ()):
        if rows and all(isinstance(row, dict) and key in row for row in rows):
            return key
    return ""


def _merge_row(present: list[Any], key: str, row: Json) -> None:
    index = next((n for n, other in enumerate(present) if other.get(key) == row[key]), None)
    if row.get("$patch") == "delete":
        if index is not None:
            present.pop(index)
    elif index is None:
        present.append({name: copy.deepcopy(value) for name, value in row.items()})
    else:
        present[index] = strategic_patched(present[index], row)


def _after_step(document: Any, step: Json) -> Any:
    operation, path = step.get("op"), _parts(step.get("path"))
    match operation:
        case "add":
            return _put(document, path, copy.deepcopy(_value(step)), is_new=True)
        case "replace":
            _at(document, path)
            return _put(document, path, copy.deepcopy(_value(step)), is_new=False)
        case "remove":
            return _removed(document, path)
        case "test":
            if _at(document, path) != _value(step):
                raise UnfitPatchError(f"testing value {step.get('path')} failed")
            return document
        case "move" | "copy":
            source = _parts(step.get("from"))
            value = copy.deepcopy(_at(document, source))
            rest = _removed(document, source) if operation == "move" else document
            return _put(rest, path, value, is_new=True)
    raise UnfitPatchError(f"unexpected kind of operation: {operation}")


def _value(step: Json) -> Any:
    if "value" not in step:
        raise UnfitPatchError(f"the operation {step.get('op')} needs a value")
    return step["value"]


def _parts(pointer: Any) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise UnfitPatchError(f"`{pointer}` is not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, len(document) - 1)]
        else:
            raise _missing(path)
    return document


def _put(document: Any, path: list[str], value: Any, *, is_new: bool) -> Any:
    if not path:
        return value
    parent, last = _at(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and is_new:
        place = len(parent) if last == "-" else _index(last, len(parent))
        parent.insert(place, value)
    elif isinstance(parent, list):
        parent[_index(last, len(parent) - 1)] = value
    else:
        raise _missing(path)
    return document


def _removed(document: Any, path: list[str]) -> Any:
    _at(document, path)
    if not path:
        raise UnfitPatchError("the whole object cannot be removed by a patch")
    parent, last = _at(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        del parent[last]
    else:
        parent.pop(_index(last, len(parent) - 1))
    return document


def _index(part: str, last: int) -> int:
    if not part.isdigit() or (len(part) > 1 and part.startswith("0")) or int(part) > last:
        raise UnfitPatchError(f"`{part}` is not an index in a list of {last + 1}")
    return int(part)


def _missing(path: list[str]) -> UnfitPatchError:
    return UnfitPatchError(f"the path /{'/'.join(path)} does not exist")
