"""What is kept of a CR between two events: enough to see whether it changed, and in what way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rolecall.json_object import Json
from rolecall.reactor.digest import without_notes
from rolecall.reconcile import PAUSED_ANNOTATION, PauseNote, is_deleted, pause_note
from rolecall.workqueue import (
    CREATION,
    DELETION,
    EDIT,
    PAUSING,
    RESUMED,
    Cause,
)


class CrMemo(NamedTuple):
    """A few hundred bytes for each CR; the objects themselves are as large as users please."""

    uid: str
    version: int | str  # generation, or `resourceVersion` where there is none
    annotations: bytes  # a digest
    pause: str  # what the annotation says
    asked: str  # what the annotations of extensions say
    is_selected: bool  # whether the watch's selector wants it
    pause_note: PauseNote | None = None  # of a paused one: by whom, since when, why
    is_deleted: bool = False  # it waits for its finalizers

    @property
    def generation(self) -> int | None:
        return self.version if isinstance(self.version, int) else None

    @property
    def is_paused(self) -> bool:
        return self.pause.lower() == "true"


def memo_of(metadata: Json, *, is_selected: bool = True, asking: Sequence[str] = ()) -> CrMemo:
    annotations = metadata.get("annotations") or {}
    return CrMemo(
        metadata.get("uid") or "",
        metadata.get("generation") or str(metadata.get("resourceVersion") or ""),
        _digest(without_notes(annotations)),
        str(annotations.get(PAUSED_ANNOTATION) or ""),
        "\n".join(str(annotations.get(each) or "") for each in asking),
        is_selected,
        pause_note({"metadata": metadata}),
        is_deleted({"metadata": metadata}),
    )


def cause_of(old: CrMemo | None, new: CrMemo, metadata: Json) -> Cause:
    """What happened to a CR, between what was known of it and what there is now."""
    if metadata.get("deletionTimestamp"):
        return DELETION
    if old is None or old.uid != new.uid:
        return CREATION
    if old.is_paused != new.is_paused:
        return PAUSING if new.is_paused else RESUMED
    if old.version == new.version:
        return Cause("edit of annotations")
    return EDIT if new.generation is None else Cause(f"edit of generation {new.generation}")


def _digest(annotations: Mapping[str, Any]) -> bytes:
    if not annotations:
        return b""
    text = json.dumps(annotations, sort_keys=True).encode()
    return hashlib.sha256(text).digest()[:8]
