"""Filters about our objects in the cluster: which there are, and which must be written.

A read of each kind tells both, so a run that finds all as it should be writes nothing.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = dict[str, Any]
_APPLIED = "mycompany.com/applied"


def etcdcluster_of(found: list[Json], kind: str, part: str = "") -> list[Json]:
    """Objects of a kind, and of a part where one is named."""
    return [
        one
        for one in found
        if one["kind"] == kind
        and part in ("", one["metadata"].get("labels", {}).get("mycompany.com/part"))
    ]


def etcdcluster_missing(expected: list[Json], found: list[Json]) -> list[Json]:
    """Objects `{kind, name}` that are expected and not among those that have our labels."""
    there = {(one["kind"], one["metadata"]["name"]) for one in found}
    return [one for one in expected if (one["kind"], one["name"]) not in there]


def etcdcluster_changed(wanted: list[Json], found: list[Json]) -> list[Json]:
    """Of the wanted objects those that must be applied.

    They carry a checksum of what was applied, which tells of a field that is not wanted any more; a
    field that somebody else changed is seen by comparing.
    """
    there = {(one["kind"], one["metadata"]["name"]): one for one in found}
    stamped = [_stamped(one) for one in wanted]
    return [
        one for one in stamped if not _holds(there.get((one["kind"], one["metadata"]["name"])), one)
    ]


def _stamped(wanted: Json) -> Json:
    text = json.dumps(wanted, sort_keys=True, default=str)
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    metadata = wanted["metadata"]
    annotations = {**metadata.get("annotations", {}), _APPLIED: checksum}
    return {**wanted, "metadata": {**metadata, "annotations": annotations}}


def _holds(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is there; the API server adds what was left out."""
    if isinstance(wanted, dict):
        return isinstance(found or {}, dict) and all(
            (_has_owners if key == "ownerReferences" else _holds)((found or {}).get(key), value)
            for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        others = found or []
        return (
            isinstance(others, list)
            and len(others) == len(wanted)
            and all(_holds(*pair) for pair in zip(others, wanted, strict=True))
        )
    return bool(found == wanted)


def _has_owners(found: list[Json] | None, wanted: list[Json]) -> bool:
    """Others may own it too: the custom resource always does."""
    return {one["uid"] for one in wanted} <= {one["uid"] for one in found or []}


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_changed": etcdcluster_changed,
            "etcdcluster_missing": etcdcluster_missing,
            "etcdcluster_of": etcdcluster_of,
        }
