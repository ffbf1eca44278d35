"""How an object does, from its status, in a word or two."""

from __future__ import annotations

from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map


def health_of(gvk: Gvk, found: Json) -> tuple[str, bool | None]:
    """The health in a word or two, and whether it is good; None: unknown."""
    spec, status = as_map(found.get("spec")), as_map(found.get("status"))
    if as_map(found.get("metadata")).get("deletionTimestamp"):
        return "is being deleted", False
    match gvk.kind:
        case "Deployment" | "StatefulSet" | "ReplicaSet":
            wanted, ready = spec.get("replicas", 1), status.get("readyReplicas") or 0
            return f"{ready} of {wanted} ready", ready == wanted
        case "DaemonSet":
            wanted, ready = status.get("desiredNumberScheduled"), status.get("numberReady")
            return f"{ready} of {wanted} ready", ready == wanted
        case "Pod" | "PersistentVolumeClaim" | "PersistentVolume" | "Namespace":
            phase = str(status.get("phase") or "")
            return phase, phase in ("Running", "Succeeded", "Bound", "Active", "Available")
        case "Job":
            failed = status.get("failed") or 0
            return f"{status.get('succeeded') or 0} succeeded, {failed} failed", not failed
    return _by_condition(status)


def _by_condition(status: Json) -> tuple[str, bool | None]:
    for each in map(as_map, _list(status.get("conditions"))):
        kind = str(each.get("type"))
        if kind in ("Ready", "Available", "Established"):
            is_true = each.get("status") == "True"
            return kind if is_true else f"not {kind}", is_true
    return "there", None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
