"""What becomes of an object that a run no longer wants, by what it is now.

One rule for deletions and for previews. It stays where it is not the object that a run made, where it
does not name the CR as its owner any more, where it is annotated so, and where the run saw it in a
list. Where others own it too, only our ownership goes: the last owner deletes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from rolecall.extensions.prune.decide import Unwanted
from rolecall.extensions.prune.ports import FinishedRun
from rolecall.json_object import Json
from rolecall.kube import is_owned_by, owner_annotations
from rolecall.record import ObjectPlace, meets_selector

PRUNE_ANNOTATION = "rolecall.dev/prune"


class Fate(Enum):
    GONE = "gone"  # it went by itself
    NOT_OURS = "not ours"
    KEPT = "kept"
    RELEASED = "released"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be done, and why, where it stays."""

    fate: Fate
    why: str = ""
    owners: tuple[Any, ...] = ()  # that are left, of one that is released


def fate_of(candidate: Unwanted, metadata: Json, run: FinishedRun) -> Judged:
    """Of an object as it was just read."""
    if metadata.get("uid") != candidate.entry.uid or metadata.get("deletionTimestamp"):
        return Judged(Fate.GONE)
    if not is_owned_by_run(metadata, run):
        return Judged(Fate.NOT_OURS, "it is not ours any more")
    if why := _why_kept(candidate, metadata):
        return Judged(Fate.KEPT, why)
    others = tuple(
        row
        for row in metadata.get("ownerReferences") or ()
        if row.get("uid") != run.cr["metadata"].get("uid")
    )
    return Judged(Fate.RELEASED if others else Fate.DELETED, owners=others)


def _why_kept(candidate: Unwanted, metadata: Json) -> str:
    annotations = metadata.get("annotations") or {}
    if str(annotations.get(PRUNE_ANNOTATION, "")).lower() == "false":
        return f"annotation `{PRUNE_ANNOTATION}: false`"
    shown = next((place for place in candidate.lists if _shows(place, metadata)), None)
    return f"the run saw it in a list of {shown.resource}" if shown else ""


def is_owned_by_run(metadata: Json, run: FinishedRun) -> bool:
    """By reference, or by the annotations where Kubernetes allows none."""
    key, uid = run.key, str(run.cr["metadata"].get("uid") or "")
    annotations = owner_annotations(key.gvk, key.namespace, key.name)
    return is_owned_by(metadata, uid, annotations)


def _shows(place: ObjectPlace, metadata: Json) -> bool:
    """Whether a list shows an object; field selectors are not looked into: it may."""
    return meets_selector(metadata.get("labels") or {}, place.label_selector)
