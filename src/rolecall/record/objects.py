"""A run's requests, folded by object: what skip, prune and triggers decide from.

An object that was read and written has the version of whichever came last. A list has what it showed
when it was read last; where the run changed an object of that kind afterwards, what the list would show
now is not known, and it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl

from rolecall.record.model import RecordedRequest, RunRecord

_MISSING = 404


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """Which object, or with an empty name which list; subresources count as their object."""

    group: str
    version: str
    resource: str
    namespace: str
    name: str = ""
    label_selector: str = ""
    field_selector: str = ""


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """What a run last knew of an object or a list."""

    place: ObjectPlace
    # The object's version, or the digest of the list's items; empty: there was no such object.
    state: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class ObjectsOfRun:
    reads: tuple[ObjectRead, ...] = ()  # by name and by list, each once, as known at the end
    # Identities that the run created, wrote or deleted.
    written: tuple[ObjectRead, ...] = ()
    owned: frozenset[ObjectPlace] = frozenset()  # those written that name the CR as their owner
    deleted: frozenset[ObjectPlace] = frozenset()
    has_changed: bool = False  # a write of the run brought an object to another version
    unknown: str = ""  # why the state of something is not known; empty: all of it is


def objects_of(record: RunRecord) -> ObjectsOfRun:
    """Fold a record; what only failed is no read, but for "not found", which is an answer."""
    fold = _Fold()
    for request in record.requests:
        if request.resource:
            fold.take(request)
    return fold.result(record)


class _Fold:
    def __init__(self) -> None:
        self._known: dict[ObjectPlace, ObjectRead] = {}  # by name
        self._read: dict[ObjectPlace, None] = {}
        self._lists: dict[ObjectPlace, tuple[ObjectRead, int]] = {}
        self._written: dict[ObjectPlace, None] = {}
        self._owned: set[ObjectPlace] = set()
        self._deleted: set[ObjectPlace] = set()
        self._changed_at: dict[tuple[str, str], int] = {}  # by kind: number of the last request
        self._unknown = ""

    def take(self, request: RecordedRequest) -> None:
        is_good = 200 <= request.code < 300
        if request.unread and not request.is_dry_run:
            self._mark_unknown(f"{request.verb} {request.resource_name}: {request.unread}")
        if request.verb == "list" and is_good:
            place = place_of_list(request)
            self._lists[place] = (ObjectRead(place, request.items_digest), request.number)
        elif request.verb == "get" and (is_good or request.code == _MISSING):
            self._take_read(request)
        elif request.is_write and (is_good or request.code == 0 or request.code >= 500):
            self._take_write(request, is_good=is_good)

    def _take_read(self, request: RecordedRequest) -> None:
        place = place_of(request)
        self._read[place] = None
        self._known[place] = ObjectRead(place, request.object_version, request.uid)

    def _take_write(self, request: RecordedRequest, *, is_good: bool) -> None:
        place = place_of(request)
        before = self._known.get(place)
        if not is_good:
            self._mark_unknown(f"{request.verb} {request.resource_name} was not answered")
        if request.verb == "deletecollection":
            self._mark_unknown("it deleted a collection")
        if before is None or before.state != request.object_version or request.verb == "delete":
            self._changed_at[request.group, request.resource] = request.number
        if not request.name:
            return
        self._written[place] = None
        if request.verb == "delete":
            self._deleted.add(place)
            # Gone, or going: the play that waits reads it, and what it reads last counts.
            self._known[place] = ObjectRead(place, "")
            return
        self._deleted.discard(place)
        self._known[place] = ObjectRead(place, request.object_version, request.uid)
        if request.is_owned:
            self._owned.add(place)

    def result(self, record: RunRecord) -> ObjectsOfRun:
        reads = [self._known[place] for place in self._read]
        for place, (read, number) in self._lists.items():
            if self._changed_at.get((place.group, place.resource), -1) > number:
                self._mark_unknown(f"it listed {place.resource} and changed one afterwards")
            reads.append(read)
        return ObjectsOfRun(
            reads=tuple(reads),
            written=tuple(self._known[place] for place in self._written),
            owned=frozenset(self._owned),
            deleted=frozenset(self._deleted),
            has_changed=bool(self._changed_at),
            unknown=record.incomplete or self._unknown,
        )

    def _mark_unknown(self, unknown: str) -> None:
        self._unknown = self._unknown or unknown


def place_of(request: RecordedRequest) -> ObjectPlace:
    """The object that a request is about."""
    about = (request.group, request.version, request.resource, request.namespace)
    return ObjectPlace(*about, request.name)


def place_of_list(request: RecordedRequest) -> ObjectPlace:
    """The list that a request is about, with its selectors."""
    query = dict(parse_qsl(request.query, keep_blank_values=True))
    selectors = query.get("labelSelector", ""), query.get("fieldSelector", "")
    about = (request.group, request.version, request.resource, request.namespace)
    return ObjectPlace(*about, "", *selectors)
