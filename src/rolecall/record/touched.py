"""A run's requests, folded by object: which objects a run touched by name, and which lists it read.

What `objects_of` folds for "did anything change" is folded here for "is it still wanted": whatever a
run wrote, created, or looked at in a task that would have written it, had it differed. An idempotent
role writes once and looks at its objects from then on, so what was written alone says little.

The version in an object's path is not part of its identity: a role may read one at `v1` and
write it at `v2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rolecall.record.model import RecordedRequest, RunRecord, TaskId
from rolecall.record.objects import ObjectPlace, place_of, place_of_list
from rolecall.record.selectors import names_of_fields

# Tasks that bring an object into a state: where it is so already, they only read it.
_ENSURING = frozenset(
    {"k8s", "kubernetes.core.k8s", "community.kubernetes.k8s", "community.okd.k8s"}
    | {"redhat.openshift.k8s", "kubernetes.core.k8s_json_patch", "kubernetes.core.k8s_service"}
)
# After these a play may take for absent what it could not see.
_REFUSED = frozenset({401, 403, 429})
_MISSING, _IS_THERE = 404, 409
ObjectId = tuple[str, str, str, str]  # group, resource, namespace, name


@dataclass(frozen=True, slots=True)
class TouchedObject:
    """An object that a run wrote or read by name, as the run last knew it."""

    place: ObjectPlace
    uid: str = ""
    version: str = ""
    is_owned: bool = False  # it names the CR as its owner
    is_wanted: bool = False  # created, written, or looked at by a task that would have written it
    is_missing: bool = False  # it was not there, or was deleted by the run
    was_read: bool = False
    was_there: bool = False  # a create was refused for that; its UID may not be known
    wanted_by: frozenset[TaskId] = frozenset()

    @property
    def id(self) -> ObjectId:
        return id_of(self.place)


@dataclass(frozen=True, slots=True)
class TouchedByRun:
    objects: Mapping[ObjectId, TouchedObject]
    lists: Mapping[ObjectPlace, str]  # each with the digest of the items that it showed last
    # Why something of it is not known well enough to decide by; empty: all of it is.
    unknown: str = ""
    tasks: Mapping[TaskId, bool] = field(default_factory=dict)  # whether each ran to its end
    skipped_includes: tuple[str, ...] = ()  # arguments of includes that were skipped, or in part


def id_of(place: ObjectPlace) -> ObjectId:
    return place.group, place.resource, place.namespace, place.name


def touched_by(record: RunRecord) -> TouchedByRun:
    """Fold a record."""
    fold = _Fold(record)
    for request in record.requests:
        if not request.is_dry_run:
            fold.take(request)
    skipped = tuple(task.includes for task in record.tasks if task.includes and task.left_out)
    unknown = record.incomplete or fold.unknown
    return TouchedByRun(fold.objects, fold.lists, unknown, _ends_of(record), skipped)


class _Fold:
    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self.objects: dict[ObjectId, TouchedObject] = {}
        self.lists: dict[ObjectPlace, str] = {}
        self.unknown = ""

    def take(self, request: RecordedRequest) -> None:
        name = request.resource_name if request.resource else request.path
        if request.code == 0 or request.code >= 500:
            self._mark_unknown(f"{request.verb} {name} was not answered")
        elif request.code in _REFUSED:
            self._mark_unknown(f"{request.verb} {name} was refused with {request.code}")
        if not request.resource:
            if request.unread:
                self._mark_unknown(f"{request.verb} {name}: {request.unread}")
            return
        if request.verb == "deletecollection":
            self._mark_unknown("it deleted a collection")
        if request.code == _IS_THERE and request.verb == "create" and not request.name:
            self._mark_unknown(f"{name} is there already, and its name is not known")
        if request.verb in ("list", "watch"):
            self._take_list(request)
        elif request.name:
            self._take_object(request)

    def _take_list(self, request: RecordedRequest) -> None:
        place = _place_of_read(request)
        if place.name:  # of one object, by a field selector
            self._keep(replace(self._known(place), was_read=True))
        elif 200 <= request.code < 300:
            is_part = "continue=" in request.query  # of a list that was read in several
            self.lists[place] = "" if is_part else request.items_digest

    def _take_object(self, request: RecordedRequest) -> None:
        place = place_of(request)
        known = self._known(place)
        is_good = 200 <= request.code < 300
        if request.verb == "get":
            known = replace(known, was_read=True)
        elif not is_good and request.code != _MISSING:  # refused, and wanted all the same
            if self._wants(request):
                was_there = request.code == _IS_THERE and request.verb == "create"
                wanted = self._wanted(known, request)
                self._keep(replace(wanted, was_there=was_there or known.was_there))
            return
        if request.verb == "delete" or request.code == _MISSING:
            known = replace(known, is_missing=True, is_wanted=False, version="")
        elif is_good:
            known = replace(
                known,
                uid=request.uid or known.uid,
                version=request.object_version,
                is_owned=request.is_owned or (not request.uid and known.is_owned),
                is_missing=False,
            )
            if self._wants(request):
                known = self._wanted(known, request)
        self._keep(known)

    def _wanted(self, known: TouchedObject, request: RecordedRequest) -> TouchedObject:
        task = self._record.task_of(request)
        by = known.wanted_by if task is None else known.wanted_by | {task.id}
        return replace(known, is_wanted=True, wanted_by=by)

    def _wants(self, request: RecordedRequest) -> bool:
        if request.is_write:
            return request.verb in ("create", "update", "patch") and not request.subresource
        task = self._record.task_of(request)
        return task is not None and task.action in _ENSURING

    def _known(self, place: ObjectPlace) -> TouchedObject:
        return self.objects.get(id_of(place)) or TouchedObject(place)

    def _keep(self, known: TouchedObject) -> None:
        self.objects[known.id] = known

    def _mark_unknown(self, unknown: str) -> None:
        self.unknown = self.unknown or unknown


def _ends_of(record: RunRecord) -> dict[TaskId, bool]:
    """The tasks that began, and whether each did all that it does, each time."""
    ends: dict[TaskId, bool] = {}
    for task in record.tasks:
        # An empty loop is skipped, and not left out: it came to its end.
        has_ended = task.outcome in ("ok", "changed", "skipped") and not task.left_out
        ends[task.id] = has_ended and ends.get(task.id, True)
    return ends


def _place_of_read(request: RecordedRequest) -> ObjectPlace:
    """Of a list; one that a field selector narrows to a name is of that object."""
    place = place_of_list(request)
    named = names_of_fields(place.field_selector) or {}
    name = request.name or (named["name"] if named.keys() == {"name"} else "")
    return replace(place, name=name, field_selector="") if name else place
