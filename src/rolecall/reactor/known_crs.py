"""Which event of a watched kind brings its key into the queue: the predicates of the Go operator.

Promise: a create or delete always does, an update only where `metadata.generation` changed, or, for
kinds that have none (Secret, ConfigMap), where anything changed; with `watchAnnotationsChanges` also
where the annotations did. So writing status, labels or finalizers does not. A selector is asked about
the labels that the object has now. Lists follow the same rule: what was known and is not listed was
deleted, and the same state seen twice counts once. Keys of the first list get urgency `STARTUP`, so
that edits go first. Ours: pausing and resuming always count, since a CR that was resumed must not wait
for its period.

Kept for each object is what `cr_memo` says, and not the object: that would cost as much as the
cluster's users please to write into it. Only that of a key which waits is there; see `newest_crs`. Of
the first list, too, where runs may be skipped: to read ten thousand CRs one by one, only to find that
nothing is to be done, cost more than everything else of such a start.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, NoSuchKindError, WatchEvent, missing_rule_hint
from rolecall.log_fields import log_fields
from rolecall.reactor.cr_memo import CrMemo, cause_of, memo_of
from rolecall.reactor.newest_crs import NewestCrs, line_of
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.ports import CrMetrics, ListAgain, Sink
from rolecall.watches import Watch
from rolecall.workqueue import DELETION, SET_BACK, START, Cause, Key, Urgency

_Place = tuple[str, str]  # namespace and name
# Kinds with a larger object are followed by metadata: it would be decoded for each status write.
_LARGE_BYTES = 64 * 1024
_LOST = 0  # no generation
_logger = logging.getLogger(__name__)


class SyncState(Enum):
    """How a watch stands."""

    STARTING = "starting"
    SYNCED = "synced"
    NO_SUCH_KIND = "waiting for its CRD"
    REFUSED = "waiting for a right"


class KnownCrs:
    """The CRs of one watch in one namespace (or all), as their informer last reported them."""

    def __init__(
        self,
        watch: Watch,
        sink: Sink,
        metrics: CrMetrics,
        own_writes: OwnWrites,
        newest: NewestCrs,
        on_state: Callable[[SyncState], None],
    ) -> None:
        self._watch = watch
        self._sink = sink
        self._metrics = metrics
        self._own_writes = own_writes
        self._on_state = on_state
        self._newest = newest
        self._memos: dict[_Place, CrMemo] = {}
        self._unlisted: set[_Place] = set()
        self._was_listed = False
        self._is_listing = True
        self._has_optional_runs = watch.has_optional_runs
        # Without a status of ours no write says that what the stream brought is still so.
        self._follows_metadata = not watch.manage_status
        self._said = ""
        self.state = SyncState.STARTING

    def __len__(self) -> int:
        return len(self._memos)

    @property
    def memos(self) -> Mapping[tuple[str, str], CrMemo]:
        """What is known of each CR, by namespace and name."""
        return self._memos

    @property
    def wants_metadata_only(self) -> bool:
        """Lists are of metadata, events of whole objects, where their turns can begin with them."""
        return self._follows_metadata or (self._is_listing and not self._lists_whole)

    @property
    def _lists_whole(self) -> bool:
        """Turns of the start-up list that may end without a run begin with what the list brought."""
        is_first = not self._was_listed
        return self._has_optional_runs and is_first and not self._follows_metadata

    def on_list_begins(self) -> None:
        self._is_listing = True
        self._unlisted = set(self._memos)

    def on_listed(self, item: Json) -> None:
        metadata = item["metadata"]
        self._unlisted.discard(_place_of(metadata))
        self._follows_metadata = self._follows_metadata or not metadata.get("generation")
        is_first = not self._was_listed and not metadata.get("deletionTimestamp")
        line = b""
        if is_first and self._lists_whole:
            line = line_of(item, self._watch.gvk)
            if len(line) > _LARGE_BYTES:
                self._follows_metadata = True
                raise ListAgain
        self._newest.renew(Key(self._watch.gvk, *_place_of(metadata)), line)
        self._learn(metadata, line, is_start=is_first)

    def on_list_complete(self) -> None:
        for place in self._unlisted:
            self._lose(place)
        self._unlisted = set()
        self._was_listed = True
        self._is_listing = False

    def on_event(self, event: WatchEvent) -> None:
        metadata = event.object["metadata"]
        if event.type == "DELETED":
            self._on_deleted(metadata)
            return
        fits = bool(metadata.get("generation")) and len(event.line) <= _LARGE_BYTES
        line = event.line if fits and not self._follows_metadata else b""
        self._newest.renew(Key(self._watch.gvk, *_place_of(metadata)), line)
        self._learn(metadata, line)
        if not fits and not self._follows_metadata:
            self._follows_metadata = True
            raise ListAgain

    def on_trouble(self, failure: ClusterError) -> None:
        """A missing kind only changes the state; `CrWatch` logs it and waits for it."""
        if isinstance(failure, NoSuchKindError):
            self._become(SyncState.NO_SUCH_KIND)
        elif isinstance(failure, ForbiddenError):
            self._become(SyncState.REFUSED)
            self._warn(*_missing_right(failure))
        else:
            self._warn(failure.message, failure.hint)

    def on_synced(self, is_synced: bool) -> None:
        """A lost stream is opened again; it does not make the engine unready."""
        if is_synced:
            if self.state is not SyncState.SYNCED:
                self._become(SyncState.SYNCED)
            if self._said:
                self._said = ""
                _logger.info("watching again", extra=log_fields(kind=str(self._watch.gvk)))

    def on_history_lost(self) -> None:
        """The store was set back: what is known of CRs never happened.

        Their keys are kept, to report those that are gone. A generation that comes again may be
        another edit, so the next list brings every CR. The cause is not that of a start, where runs
        may be skipped: a version that comes again, of what they read, may be another as well.
        """
        self._was_listed = False
        self._own_writes.forget()
        self._memos = {place: memo._replace(version=_LOST) for place, memo in self._memos.items()}

    def lose_all(self) -> None:
        """The kind is gone, and with it every CR, with or without an event for each."""
        for place in tuple(self._memos):
            self._lose(place)
        self._unlisted = set()  # a list may be on its way

    def _become(self, state: SyncState) -> None:
        self.state = state
        self._on_state(state)

    def _warn(self, why: str, hint: str) -> None:
        if why != self._said:
            self._said = why
            warn_of(self._watch, why, hint)

    def _learn(self, metadata: Json, line: bytes = b"", *, is_start: bool = False) -> None:
        place = _place_of(metadata)
        is_selected = self._selects(metadata)
        old = self._memos.get(place)
        new = memo_of(metadata, is_selected=is_selected, asking=self._watch.annotations)
        is_new = old is None or old.uid != new.uid or old.version == _LOST
        if is_selected and (is_new or self._counts(old, new)):
            key = Key(self._watch.gvk, *place)
            self._metrics.seen(key, _created_at(metadata))
            self._newest.keep(key, line)
            reason = (Urgency.EDIT, cause_of(old, new, metadata))
            if is_new and is_start:
                reason = (Urgency.STARTUP, START if old is None else SET_BACK)
            self._add_unless_own(key, reason, old, new)
        if new != old:
            self._memos[place] = new

    def _on_deleted(self, metadata: Json) -> None:
        place = _place_of(metadata)
        known = self._memos.get(place)
        if known is None or known.uid != (metadata.get("uid") or ""):
            return  # it went with its kind, or a successor was reported before
        key = Key(self._watch.gvk, *place)
        self._metrics.gone(key)
        self._newest.drop(key)
        if self._selects(metadata):
            self._sink.add(key, Urgency.EDIT, DELETION)
        del self._memos[place]

    def _lose(self, place: _Place) -> None:
        """An object went without a word; its key is left to the reconcile, which finds nothing."""
        key = Key(self._watch.gvk, *place)
        self._metrics.gone(key)
        self._newest.drop(key)
        self._sink.add(key, Urgency.EDIT, DELETION)
        del self._memos[place]

    def _selects(self, metadata: Json) -> bool:
        return self._watch.selector.selects(metadata.get("labels") or {})

    def _counts(self, old: CrMemo | None, new: CrMemo) -> bool:
        """Whether the change from one state of an object to another wants a reconcile."""
        if old is None:
            return True
        return (
            new.version != old.version
            or new.pause != old.pause
            or new.asked != old.asked
            or (self._watch.watch_annotations_changes and new.annotations != old.annotations)
        )

    def _add_unless_own(
        self, key: Key, reason: tuple[Urgency, Cause], old: CrMemo | None, new: CrMemo
    ) -> None:
        """Add a key, unless the change of an object without generation was the engine's own.

        Where it may have been, that is asked after a moment, when a write of ours is noted.
        """
        uid, version = new.uid, new.version
        before = old.version if old else None
        may_be_own = self._watch.manage_status or self._watch.finalizer is not None
        if not may_be_own or not isinstance(version, str) or not isinstance(before, str):
            self._sink.add(key, *reason)
            return

        def unless_own() -> None:
            if not self._own_writes.made_all_since(uid, before, version):
                self._sink.add(key, *reason)

        self._own_writes.call_after_notes(unless_own)


def warn_of(watch: Watch, why: str, hint: str) -> None:
    _logger.warning("cannot watch", extra=log_fields(kind=str(watch.gvk), why=why, hint=hint))


def _missing_right(failure: ForbiddenError) -> tuple[str, str]:
    """A sentence, and its way out; of both verbs, since one alone is of no use."""
    target = failure.target
    kind = target.resource.gvk.kind if target.resource else "object"
    where = f"in namespace `{target.namespace}`" if target.namespace else "in all namespaces"
    way_out = missing_rule_hint(replace(target, verb="list, watch"))
    return (
        f"not allowed to list, watch `{target.rbac_name}` {where}, so no {kind} there will be"
        " reconciled",
        way_out if target.namespace else f"{way_out}, or set WATCH_NAMESPACE",
    )


def _place_of(metadata: Json) -> _Place:
    return metadata.get("namespace") or "", metadata["name"]


def _created_at(metadata: Json) -> datetime:
    return datetime.fromisoformat(metadata.get("creationTimestamp") or "1970-01-01T00:00:00Z")
