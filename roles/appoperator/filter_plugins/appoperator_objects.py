"""Filters about objects: which kinds there are to be, and which objects have to be written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = dict[str, Any]
WRITTEN = "tools.rolecall.dev/written"
# What the spec may ask for beside the Deployment and its Service: kind, field, apiVersion.
EXTRAS = {
    "HorizontalPodAutoscaler": ("autoscaling", "autoscaling/v2"),
    "PodDisruptionBudget": ("disruptionBudget", "policy/v1"),
    "Ingress": ("ingress", "networking.k8s.io/v1"),
    "HTTPRoute": ("httpRoute", "gateway.networking.k8s.io/v1"),
}
_OPTIONAL = ("command", "args", "ports", "env", "envFrom", "resources", "volumeMounts")
VERSIONS = {"Deployment": "apps/v1", "Service": "v1"} | {k: v for k, (_, v) in EXTRAS.items()}


def appoperator_image(image: Json) -> str:
    """What a container calls it, from its parts; the older versions of the kind have it so."""
    parts = (("", "repository"), (":", "tag"), ("@", "digest"))
    return "".join(before + str(image[part]) for before, part in parts if image.get(part))


def appoperator_extras(extras: Json) -> list[str]:
    """Kinds that the spec asks for beside Deployment and Service, from its fields."""
    return [kind for kind, (field, _) in EXTRAS.items() if extras.get(field)]


def appoperator_versions(kinds: list[str]) -> list[Json]:
    """`kind` and `apiVersion` of each."""
    return [{"kind": kind, "apiVersion": VERSIONS[kind]} for kind in kinds]


def appoperator_pod(pod: Json) -> Json:
    """Without fields that have nothing in them, as the API server keeps it."""
    containers = [_filled(container) for container in pod["containers"]]
    return _filled({**pod, "containers": containers})


def _filled(part: Json) -> Json:
    return {key: value for key, value in part.items() if value not in (None, "", [], {})}


def appoperator_to_write(wanted: list[Json], found: list[Json]) -> list[Json]:
    """Those of `wanted` that are not there as they should be, marked with a digest of what we want.

    The digest tells that we want something else than before; comparing tells that somebody changed a
    field of ours. So a run that changes nothing asks for nothing.
    """
    there = {one["kind"]: one for one in found}
    marked = [_marked(obj) for obj in wanted]
    return [obj for obj in marked if not _holds(there.get(obj["kind"], {}), obj)]


def appoperator_not_taken(results: list[Json]) -> list[Json]:
    """Those that an apply was refused for, or that are not as they should be after it.

    What is not wanted any more must be gone then, too: an apply takes nothing away that somebody else
    owns besides us, such as the merge patch that mended an edit.
    """
    return [
        one["item"]
        for one in results
        if not _holds(one.get("result", {}), one["item"])
        or _left_over(one.get("result", {}), one["item"])
    ]


def _left_over(found: Json, wanted: Json) -> list[str]:
    """Fields of our container that the spec could name and does not; none has a default."""
    have, want = _container(found), _container(wanted)
    return [field for field in _OPTIONAL if have.get(field) and not want.get(field)]


def _container(obj: Json) -> Json:
    pod = obj.get("spec", {}).get("template", {}).get("spec", {})
    rows: list[Json] = pod.get("containers") or [{}]
    return rows[0]


def _marked(obj: Json) -> Json:
    digest = hashlib.sha256(json.dumps(obj, sort_keys=True).encode()).hexdigest()[:16]
    metadata = obj["metadata"]
    annotations = {**metadata.get("annotations", {}), WRITTEN: digest}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def _holds(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is there; more may be there, such as the API server's defaults."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        # The API server leaves out what is empty.
        return all(_holds(found[k], v) if k in found else not v for k, v in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(_holds(one, other) for one, other in pairs)
    return bool(found == wanted)


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "appoperator_image": appoperator_image,
            "appoperator_extras": appoperator_extras,
            "appoperator_not_taken": appoperator_not_taken,
            "appoperator_pod": appoperator_pod,
            "appoperator_to_write": appoperator_to_write,
            "appoperator_versions": appoperator_versions,
        }
