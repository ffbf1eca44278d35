"""What of an object counts as changed: all but what servers and controllers keep there for themselves.

Left out are `status`, `resourceVersion` and `managedFields`. The Go operator leaves out only the
times of the latter, and therefore runs once more when a client writes a status for the first time,
though nothing else changed; a change of a field that matters shows in that field.

Left out, too, is what Kubernetes' own controllers note on an object: the revision of a Deployment, the
volume that a claim got. Otherwise each creation brings a second run. They are known by their names, as
lists come without `managedFields`.

Of an object that has a generation, and whose kind has a status subresource, the generation stands
for the content, and metadata is enough. Of all others the content itself is looked at; there a
generation says nothing new (where status is no subresource, it counts status writes too), so it is
left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_BOOKKEEPING = frozenset({"resourceVersion", "managedFields"})
_CONTROLLERS_NOTES = (
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "batch.kubernetes.io/job-tracking",
    "control-plane.alpha.kubernetes.io/",
    "deployment.kubernetes.io/",
    "endpoints.kubernetes.io/",
    "handlers.rolecall.dev/",
    "pv.kubernetes.io/",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/",
)


def digest_of(
    document: Mapping[str, Any], *, is_metadata_only: bool, is_claim: bool = False
) -> bytes:
    """A few bytes that change when, and only when, something that counts does."""
    ignored = _BOOKKEEPING if is_metadata_only else _BOOKKEEPING | {"generation"}
    metadata = document.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if key not in ignored}
    counted: dict[str, Any] = {"metadata": _without_notes(kept)}
    if not is_metadata_only:
        counted |= {
            key: value for key, value in document.items() if key not in ("metadata", "status")
        }
        if is_claim:
            counted["spec"] = _without_volume(counted.get("spec"))
    text = json.dumps(counted, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(text).digest()[:8]


def without_notes(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations that people or roles made."""
    return {
        key: value for key, value in annotations.items() if not key.startswith(_CONTROLLERS_NOTES)
    }


def _without_notes(metadata: dict[str, Any]) -> dict[str, Any]:
    found = metadata.pop("annotations", None)
    if not isinstance(found, dict):
        return metadata
    kept = without_notes(found)
    return {**metadata, "annotations": kept} if kept else metadata


def _without_volume(spec: Any) -> Any:
    """Of a claim; a role can name a volume at its creation alone."""
    if not isinstance(spec, dict):
        return spec
    return {key: value for key, value in spec.items() if key != "volumeName"}
