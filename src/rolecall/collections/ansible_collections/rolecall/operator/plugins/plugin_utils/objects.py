"""Objects that were read: whose they are, and whether they are as they should be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def is_ours(found: Any, cr: Mapping[str, Any]) -> bool:
    """Whether it says that it belongs to `cr`: an ownerReference or a label with the uid of that."""
    if not isinstance(found, Mapping):
        return False
    uid = _map(cr.get("metadata")).get("uid")
    if not uid:
        raise ValueError("the object that may own others has no uid; give it whole, as `_<group>_<kind>`")
    metadata = _map(found.get("metadata"))
    owners = metadata.get("ownerReferences")
    owned = isinstance(owners, list) and any(_map(owner).get("uid") == uid for owner in owners)
    return owned or uid in _map(metadata.get("labels")).values()


def foreign(
    objects: Any, cr: Mapping[str, Any], labels: Mapping[str, str] | None = None
) -> list[str]:
    """Those that are not ours, by kind and name; what has all these labels is ours, too."""
    kept = labelled(objects, labels) if labels else []
    return [_shown(each) for each in listed(objects) if each not in kept and not is_ours(each, cr)]


def labelled(objects: Any, labels: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Those that have all these labels."""
    return [
        each
        for each in listed(objects)
        if all(
            _map(_map(each.get("metadata")).get("labels")).get(key) == value
            for key, value in labels.items()
        )
    ]


def listed(objects: Any) -> list[Mapping[str, Any]]:
    """The objects of a list, of a result of `k8s_info`, of a loop of such, or the one object."""
    if isinstance(objects, Mapping):
        for key in ("resources", "results", "items"):
            if isinstance(objects.get(key), list):
                return listed(objects[key])
        return [objects] if objects.get("metadata") else []
    if not isinstance(objects, (list, tuple)):
        return []
    return [found for each in objects for found in listed(each)]


def changed(wanted: Any, found: Any, stamp: str = "") -> list[dict[str, Any]]:
    """Of the wanted objects those that are not there with all that is wanted of them.

    More may be there, such as the API server's defaults and further owners. `stamp` names an annotation for
    a digest of what was wanted: it shows a field that is not wanted any more, which comparing cannot.
    """
    there = {_key(each): each for each in listed(found)}
    marked = [_stamped(each, stamp) if stamp else dict(each) for each in listed(wanted)]
    return [each for each in marked if not _holds(there.get(_key(each), {}), each)]


def _key(each: Mapping[str, Any]) -> tuple[Any, Any]:
    return each.get("kind"), _map(each.get("metadata")).get("name")


def _stamped(wanted: Mapping[str, Any], stamp: str) -> dict[str, Any]:
    text = json.dumps(wanted, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    metadata = _map(wanted.get("metadata"))
    annotations = {**_map(metadata.get("annotations")), stamp: digest}
    return {**wanted, "metadata": {**metadata, "annotations": annotations}}


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            _holds_key(found, key, value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(_holds(*pair) for pair in zip(found, wanted))
        )
    return bool(found == wanted)


def _holds_key(found: Mapping[str, Any], key: str, wanted: Any) -> bool:
    if key not in found:  # the API server leaves out what is empty
        return wanted in (None, "", [], {})
    if key == "ownerReferences":
        return {_map(each).get("uid") for each in wanted} <= {
            _map(each).get("uid") for each in found[key] or []
        }
    return _holds(found[key], wanted)


def _shown(each: Mapping[str, Any]) -> str:
    name = _map(each.get("metadata")).get("name")
    return f"{each.get('kind') or 'object'} {name}"


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
