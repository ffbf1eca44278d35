"""Whose an object is: that of the object of this run, or somebody else's."""

from __future__ import annotations

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


def foreign(objects: Any, cr: Mapping[str, Any]) -> list[str]:
    """Those that are not ours, by kind and name."""
    return [_shown(each) for each in listed(objects) if not is_ours(each, cr)]


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


def _shown(each: Mapping[str, Any]) -> str:
    name = _map(each.get("metadata")).get("name")
    return f"{each.get('kind') or 'object'} {name}"


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
