"""Which event of a watched kind brings its key into the queue: the predicates of the Go operator.

Promise: a create or delete always does, an update only where `metadata.generation` changed, or, for
kinds that have none (Secret, ConfigMap), where anything changed; with `watchAnnotationsChanges`
also where the annotations did. So writing status, labels or finalizers does not. A selector is
asked about the labels that the object has now. The same state heard twice counts once, so whoever
listens may list again, or listen twice, as often as it likes. Ours: pausing and resuming always
count, since a CR that was resumed must not wait for its period.

Kept for each object are its uid, one mark (the generation, or the `resourceVersion` where there is
none), a hash of its annotations and what paused it: a few hundred bytes. Keeping the objects
themselves, as informers do, would cost as much as the cluster's users please to write into them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.watches import Watch
from rolecall.workqueue import Key, Urgency

Place = tuple[str, str]  # namespace and name
Mark = int | str  # generation, or `resourceVersion` where there is none
_Memo = tuple[str, Mark, bytes, str]  # uid, mark, digest of annotations, pause


class How(Enum):
    """How an object came to be heard of."""

    LISTED = "listed"
    CREATED = "created"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one event says of one object, without the object."""

    how: How
    namespace: str
    name: str
    uid: str
    mark: Mark
    annotations: bytes
    pause: str  # value of the annotation that pauses; empty: none
    labels: Mapping[str, str]
    is_dying: bool
    created: str

    @property
    def place(self) -> Place:
        """Where the object is."""
        return self.namespace, self.name

    @property
    def created_at(self) -> datetime:
        """When the object was created."""
        return datetime.fromisoformat(self.created)


def sighting_of(how: How, metadata: Mapping[str, Any]) -> Sighting:
    """Take from an object's metadata what matters."""
    return Sighting(
        how=how,
        namespace=metadata.get("namespace") or "",
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        mark=metadata.get("generation") or str(metadata.get("resourceVersion") or ""),
        annotations=_digest(metadata.get("annotations") or {}),
        pause=str((metadata.get("annotations") or {}).get(PAUSED_ANNOTATION) or ""),
        labels=metadata.get("labels") or {},
        is_dying=bool(metadata.get("deletionTimestamp")),
        created=metadata.get("creationTimestamp") or "1970-01-01T00:00:00Z",
    )


class KnownObjects:
    """All objects of one watch, as last heard of."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._memos: dict[Place, _Memo] = {}

    def __len__(self) -> int:
        return len(self._memos)

    def key(self, place: Place) -> Key:
        """The key of the CR at a place."""
        return Key(self._watch.gvk, *place)

    def knows(self, place: Place) -> bool:
        """Whether there is an object at a place."""
        return place in self._memos

    def mark(self, place: Place) -> Mark | None:
        """What tells the state of an object that was last heard of; None where there is none."""
        memo = self._memos.get(place)
        return memo[1] if memo else None

    def places(self, namespace: str = "") -> Mapping[Place, object]:
        """A snapshot of a namespace or (empty) of all, for `unheard_since`."""
        if not namespace:
            return dict(self._memos)
        return {place: memo for place, memo in self._memos.items() if place[0] == namespace}

    def hear(self, sighting: Sighting, *, is_first_list: bool) -> Urgency | None:
        """Remember; the urgency of the CR's key, or None where nothing has to happen."""
        if sighting.how is How.GONE:
            return self._hear_end(sighting)
        old = self._memos.get(sighting.place)
        if old is not None and _is_older(sighting, old):
            return None
        new = (sighting.uid, sighting.mark, sighting.annotations, sighting.pause)
        if new != old:
            self._memos[sighting.place] = new
        if not self._watch.selector.selects(sighting.labels):
            return None
        if old is None or old[0] != sighting.uid:
            is_old_news = is_first_list and sighting.how is How.LISTED and not sighting.is_dying
            return Urgency.STARTUP if is_old_news else Urgency.EDIT
        return Urgency.EDIT if self._counts(old, new) else None

    def _counts(self, old: _Memo, new: _Memo) -> bool:
        """Whether the change from one state of an object to another wants a reconcile."""
        _, old_mark, old_annotations, old_pause = old
        _, mark, annotations, pause = new
        watches_annotations = self._watch.watch_annotations_changes
        return (
            mark != old_mark
            or pause != old_pause
            or (watches_annotations and annotations != old_annotations)
        )

    def unheard_since(
        self, snapshot: Mapping[Place, object], listed: Iterable[Place]
    ) -> list[Place]:
        """What was known at the snapshot, is not listed, and was not heard of since: it is gone."""
        missing = dict(snapshot)
        for place in listed:
            missing.pop(place, None)
        return [place for place, memo in missing.items() if self._memos.get(place) is memo]

    def forget(self, place: Place) -> None:
        """The object is gone."""
        self._memos.pop(place, None)

    def _hear_end(self, sighting: Sighting) -> Urgency | None:
        old = self._memos.get(sighting.place)
        if old is None or old[0] != sighting.uid:
            return None  # told before: by an audit, or by its successor of the same name
        del self._memos[sighting.place]
        return Urgency.EDIT if self._watch.selector.selects(sighting.labels) else None


def _is_older(sighting: Sighting, old: _Memo) -> bool:
    """Whether a newer state of the same object was heard first; only generations can tell."""
    uid, mark, _, _ = old
    if uid != sighting.uid or isinstance(mark, str) or isinstance(sighting.mark, str):
        return False
    return sighting.mark < mark


def _digest(annotations: Mapping[str, str]) -> bytes:
    if not annotations:
        return b""
    text = json.dumps(annotations, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=8).digest()
