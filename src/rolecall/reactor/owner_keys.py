"""Reads from an object who owns it: by references, or by annotations where those are illegal.

Group and kind count, neither version nor uid, as owners of another version of a kind are owners all
the same. The two annotations are those that the Go operator writes and that documentation asks
people to use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rolecall.gvk import Gvk
from rolecall.kube import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION
from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class Interest:
    """A watch follows dependents that are tied to its CRs in one of two ways."""

    owner_kind: Gvk
    owner_is_namespaced: bool
    by_annotation: bool


def keys_of(metadata: Mapping[str, Any], interests: Iterable[Interest]) -> Iterator[Key]:
    """The keys of all owners that one of the interests includes."""
    for interest in interests:
        if interest.by_annotation:
            yield from _annotated(metadata, interest.owner_kind)
        else:
            yield from _referred(metadata, interest)


def _referred(metadata: Mapping[str, Any], interest: Interest) -> Iterator[Key]:
    for reference in metadata.get("ownerReferences") or ():
        owner = Gvk.parse(str(reference.get("apiVersion") or ""), str(reference.get("kind") or ""))
        if owner.group_kind == interest.owner_kind.group_kind:
            namespace = metadata.get("namespace") or "" if interest.owner_is_namespaced else ""
            yield Key(interest.owner_kind, namespace, str(reference.get("name") or ""))


def _annotated(metadata: Mapping[str, Any], owner_kind: Gvk) -> Iterator[Key]:
    annotations = metadata.get("annotations") or {}
    if annotations.get(OWNER_TYPE_ANNOTATION) != owner_kind.group_kind:
        return
    text = str(annotations.get(OWNER_ANNOTATION) or "").strip()
    if text:
        namespace, slash, name = text.partition("/")
        yield Key(owner_kind, namespace, name) if slash else Key(owner_kind, "", text)
