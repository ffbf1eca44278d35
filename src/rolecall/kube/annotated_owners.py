"""The two annotations that name an owner where Kubernetes allows no owner reference.

They are those of the Go operator: dependents made by either are recognised by both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rolecall.gvk import Gvk

OWNER_ANNOTATION = "operator-sdk/primary-resource"
OWNER_TYPE_ANNOTATION = "operator-sdk/primary-resource-type"


def owner_annotations(gvk: Gvk, namespace: str, name: str) -> dict[str, str]:
    """The two, for an owner of this kind and name."""
    place = f"{namespace}/{name}" if namespace else name
    return {OWNER_ANNOTATION: place, OWNER_TYPE_ANNOTATION: gvk.group_kind}


def is_owned_by(metadata: Mapping[str, Any], uid: str, annotations: Mapping[str, str]) -> bool:
    """Whether an object names this owner, in either way; forgives what is no metadata at all."""
    references = metadata.get("ownerReferences")
    rows = references if uid and isinstance(references, list) else ()
    if any(isinstance(row, dict) and row.get("uid") == uid for row in rows):
        return True
    found = metadata.get("annotations")
    said = found if isinstance(found, dict) else {}
    return all(said.get(key) == text for key, text in annotations.items())
