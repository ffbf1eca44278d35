"""Decides how a dependent is tied to its owner, and what must be written into it for that.

Kubernetes allows an owner reference only from an owner that is cluster-scoped or lives in the same
namespace; everything else is tied by two annotations, which the garbage collector does not see. The
texts are those of the Go operator, so dependents made by either are recognised by both.

The hard part is what comes after the create. What a server-side apply leaves out, its field manager
gives up, and what a PUT leaves out is gone: either would lose the owner that was written when the
object was made, since the manifest does not know of it. `kept_by_apply` and `kept_by_replace` find what
must be said again. Asking only whether the object is ours was rejected: two CRs whose plays write one
shared object would take turns in removing each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rolecall.kube import (
    OWNER_ANNOTATION,
    OWNER_TYPE_ANNOTATION,
    is_owned_by,
    owner_annotations,
)
from rolecall.proxy.identity import Owner

# The shape of the references that we write; a reference with more in it has another author.
_OUR_FIELDS = {"apiVersion", "kind", "name", "uid"}

Metadata = Mapping[str, Any]


class Tie(Enum):
    """The two ways in which a dependent can name its owner."""

    REFERENCE = "reference"
    ANNOTATIONS = "annotations"


@dataclass(frozen=True, slots=True)
class Additions:
    """What must be added to an object's metadata before it is sent on."""

    references: tuple[Mapping[str, str], ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.references or self.annotations)


def tie_for(owner: Owner, *, is_namespaced: bool, namespace: str) -> Tie:
    """The way that Kubernetes allows between this owner and a dependent in `namespace`."""
    if not owner.namespace:
        return Tie.REFERENCE
    if is_namespaced and namespace == owner.namespace:
        return Tie.REFERENCE
    return Tie.ANNOTATIONS


def annotations_naming(owner: Owner) -> dict[str, str]:
    """The two annotations that name an owner in another scope."""
    return owner_annotations(owner.gvk, owner.namespace, owner.name)


def names_owner(metadata: Metadata, owner: Owner) -> bool:
    """Whether an object names this owner, in either way; forgives what is no metadata at all."""
    return is_owned_by(metadata, owner.uid, annotations_naming(owner))


def owner_additions(metadata: Metadata, owner: Owner, tie: Tie) -> Additions:
    """What makes a new object name its owner; nothing where its reference is there already."""
    if tie is Tie.ANNOTATIONS:
        return Additions(annotations=annotations_naming(owner))
    references = metadata.get("ownerReferences") or ()
    if any(reference.get("uid") == owner.uid for reference in references):
        return Additions()
    return Additions(references=(owner.reference(),))


def owner_patch(metadata: Metadata, owner: Owner, tie: Tie) -> dict[str, Any]:
    """What gives an object its owner, if it is still the one and at the version that was seen."""
    additions = owner_additions(metadata, owner, tie)
    written: dict[str, Any] = {
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    }
    if additions.references:
        written["ownerReferences"] = list(additions.references)
    if additions.annotations:
        written["annotations"] = dict(additions.annotations)
    return {"metadata": written}


def kept_by_apply(existing: Metadata, applied: Metadata, field_manager: str) -> Additions:
    """The owners that `field_manager` wrote earlier and that `applied` would take away."""
    held = _fields_held(existing, field_manager)
    references = held.get("f:ownerReferences") or {}
    annotations = held.get("f:annotations") or {}
    left_out = _left_out(existing, applied)
    return Additions(
        references=tuple(
            row for row in left_out.references if _reference_key(row["uid"]) in references
        ),
        annotations={
            key: text for key, text in left_out.annotations.items() if f"f:{key}" in annotations
        },
    )


def kept_by_replace(existing: Metadata, replacing: Metadata) -> Additions:
    """The owners that a PUT would take away without saying so.

    One that speaks of `ownerReferences`, if only to say that there are none, means it.
    """
    left_out = _left_out(existing, replacing)
    if "ownerReferences" in replacing:
        return Additions(annotations=left_out.annotations)
    return left_out


def _left_out(existing: Metadata, written: Metadata) -> Additions:
    """The owners of the shape that we write, which are there and which `written` does not name."""
    said = {row.get("uid") for row in written.get("ownerReferences") or ()}
    said_annotations = written.get("annotations") or {}
    there = existing.get("annotations") or {}
    return Additions(
        references=tuple(
            row
            for row in existing.get("ownerReferences") or ()
            if set(row) == _OUR_FIELDS and row["uid"] not in said
        ),
        annotations={
            key: there[key]
            for key in (OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION)
            if key in there and key not in said_annotations
        },
    )


def _fields_held(existing: Metadata, field_manager: str) -> Mapping[str, Any]:
    for entry in existing.get("managedFields") or ():
        is_its = entry.get("manager") == field_manager and entry.get("operation") == "Apply"
        if is_its and not entry.get("subresource"):
            metadata: Mapping[str, Any] = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
            return metadata
    return {}


def _reference_key(uid: str) -> str:
    return "k:" + json.dumps({"uid": uid}, separators=(",", ":"))
