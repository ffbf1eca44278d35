"""The objects of one stream that plays read: what changed of them, and whom that concerns.

A change brings the CRs whose last run read the object by name, or had it in a list, as it was or as it
is now. What a CR's own run saw or made is no news to it. A stream that begins compares what it finds
with what the runs saw: what changed between the read and the stream is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from rolecall.errors import ClusterError
from rolecall.extensions.reads.read_digest import ContentNeededError, read_digest
from rolecall.extensions.reads.readers import MISSING, NEVER_SEEN, Readers
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, Resource, WatchEvent
from rolecall.reactor import CallLater, ListAgain, Sink, call_after_notes
from rolecall.record import digest_of_items, meets_selector
from rolecall.workqueue import Cause, Key, Urgency

_Place = tuple[str, str]  # namespace and name


@dataclass(frozen=True, slots=True)
class Change:
    """An object came, changed or went."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    version: str  # MISSING: it is gone

    @property
    def is_gone(self) -> bool:
        return self.version == MISSING


@dataclass(frozen=True, slots=True)
class ReadPorts:
    sink: Sink
    # Whether a run of the CR that is in flight read, wrote or deleted exactly this.
    is_own: Callable[[Key, Change], bool] = lambda *_: False
    on_trouble: Callable[[Resource, str, ClusterError], None] = lambda *_: None
    call_later: CallLater = call_after_notes


@dataclass(frozen=True, slots=True)
class _Memo:
    digest: bytes
    version: str
    uid: str
    labels: Mapping[str, str]


class ReadObjects:
    """What an informer calls; of one kind in a namespace (or all), or of one object."""

    def __init__(
        self,
        resource: Resource,
        namespace: str,
        readers: Readers,
        ports: ReadPorts,
        *,
        keeps_labels: bool,
    ) -> None:
        self._resource, self._namespace = resource, namespace
        self._readers, self._ports = readers, ports
        self._memos: dict[_Place, _Memo] = {}
        self._unlisted: set[_Place] = set()
        self._has_status = "status" in resource.subresources
        self._keeps_labels = keeps_labels  # for lists; an object that is named needs none
        self._needs_content = False
        self._was_listed = False
        self.is_synced = False

    @property
    def wants_metadata_only(self) -> bool:
        return not self._needs_content

    def on_list_begins(self) -> None:
        self._unlisted = set(self._memos)

    def on_listed(self, item: Json) -> None:
        self._unlisted.discard(_place_of(item["metadata"]))
        self._learn(item)

    def on_list_complete(self) -> None:
        for place in self._unlisted:
            self._gone(place, self._memos.pop(place))
        self._unlisted = set()
        if not self._was_listed:
            self._was_listed = True
            self._compare_with_runs()

    def on_event(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            place = _place_of(event.object["metadata"])
            memo = self._memos.pop(place) if place in self._memos else self._memo(event.object)
            self._gone(place, memo)
        else:
            self._learn(event.object)

    def on_trouble(self, failure: ClusterError) -> None:
        self._ports.on_trouble(self._resource, self._namespace, failure)

    def on_synced(self, is_synced: bool) -> None:
        """While it is not, changes are found in the next list, or at the period."""
        self.is_synced = is_synced

    def compare(self, key: Key, names: Iterable[str]) -> None:
        """A key reads these by name for the first time: what changed before it was known?"""
        if not self._was_listed:
            return
        for name in names:
            seen = self._readers.of(key).names.get(name, NEVER_SEEN)
            self._compare_one(key, (self._namespace, name), seen)

    def compare_lists(self, key: Key, selectors: Iterable[str]) -> None:
        """The same for lists."""
        if self._was_listed:
            reads = self._readers.of(key)
            for selector in selectors:
                self._compare_list(key, selector, reads.lists.get(selector, NEVER_SEEN))

    def _learn(self, document: Json) -> None:
        place, fresh = _place_of(document["metadata"]), self._memo(document)
        old = self._memos.get(place)
        self._memos[place] = fresh
        if old is not None and old.digest == fresh.digest:
            return
        if self._was_listed:
            what = "change of" if old else "creation of"
            self._bring(
                self._change(place, fresh), what, (old.labels if old else None, fresh.labels)
            )

    def _gone(self, place: _Place, memo: _Memo) -> None:
        change = replace(self._change(place, memo), version=MISSING)
        self._bring(change, "deletion of", (memo.labels,))

    def _memo(self, document: Json) -> _Memo:
        metadata = document["metadata"]
        try:
            digest = read_digest(document, has_status=self._has_status)
        except ContentNeededError:
            self._needs_content = True
            raise ListAgain from None
        labels = dict(metadata.get("labels") or {}) if self._keeps_labels else {}
        version = str(metadata.get("resourceVersion") or "")
        return _Memo(digest, version, str(metadata.get("uid") or ""), labels)

    def _bring(
        self, change: Change, what: str, labels: tuple[Mapping[str, str] | None, ...]
    ) -> None:
        by_name = [key for key, _ in self._readers.by_name(change.name)]
        by_list = list(self._readers.by_list(*labels))
        if by_name or by_list:
            keys = dict.fromkeys((*by_name, *by_list))
            self._ports.call_later(lambda: self._bring_unless_own(change, what, keys, by_name))

    def _bring_unless_own(
        self, change: Change, what: str, keys: Iterable[Key], by_name: Iterable[Key]
    ) -> None:
        named = set(by_name)
        for key in keys:
            seen = self._readers.of(key).seen.get((change.namespace, change.name))
            if seen != change.version and not self._ports.is_own(key, change):
                self._requeue(key, change, what, in_list=key not in named)

    def _compare_with_runs(self) -> None:
        for name in self._readers.names:
            for key, seen in self._readers.by_name(name):
                self._compare_one(key, (self._namespace, name), seen)
        for key, selector, digest in self._readers.all_lists():
            self._compare_list(key, selector, digest)

    def _compare_one(self, key: Key, place: _Place, seen: str) -> None:
        memo = self._memos.get(place)
        now = memo.version if memo else MISSING
        if seen in (NEVER_SEEN, now):
            return
        what = "deletion of" if memo is None else "change of" if seen != MISSING else "creation of"
        change = Change(self._resource, *place, memo.uid if memo else "", now)
        if not self._ports.is_own(key, change):
            self._requeue(key, change, what)

    def _compare_list(self, key: Key, selector: str, digest: str) -> None:
        items = (
            f"{namespace}/{name}@{memo.version}"
            for (namespace, name), memo in self._memos.items()
            if meets_selector(memo.labels, selector)
        )
        if digest != NEVER_SEEN and digest_of_items(items) != digest:
            cause = Cause(f"change of a list of {self._resource.plural} that the role reads")
            self._ports.sink.add(key, Urgency.DEPENDENT, cause)

    def _requeue(self, key: Key, change: Change, what: str, *, in_list: bool = False) -> None:
        is_elsewhere = change.namespace not in ("", key.namespace)
        name = f"{change.namespace}/{change.name}" if is_elsewhere else change.name
        where = " in a list" if in_list else ""
        cause = Cause(f"{what} {self._resource.gvk.kind} {name}{where} that the role reads")
        self._ports.sink.add(key, Urgency.DEPENDENT, cause)

    def _change(self, place: _Place, memo: _Memo) -> Change:
        return Change(self._resource, *place, memo.uid, memo.version)


def rule_to_watch(failure: ClusterError) -> str:
    """What a role must allow for a stream; empty where that was not the trouble."""
    if not isinstance(failure, ForbiddenError):
        return ""
    return replace(failure.target, verb="list, watch").rule


def _place_of(metadata: Json) -> _Place:
    return str(metadata.get("namespace") or ""), str(metadata["name"])
