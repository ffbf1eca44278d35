"""What kept runs wrote into one object, from their records: names of fields and times, no values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from rolecall.record import MOST_LEAVES, RecordedRequest, RunRecord

# Others are about something else: an eviction, a token, a program in a pod.
_SUBRESOURCES = frozenset({"", "status", "scale"})
_VERBS = frozenset({"create", "update", "patch"})


@dataclass(frozen=True, slots=True)
class BlamedObject:
    """An object, as requests name it."""

    group: str
    resource: str
    namespace: str
    name: str
    uid: str = ""

    def is_of(self, request: RecordedRequest) -> bool:
        place = (request.group, request.resource, request.namespace, request.name)
        if place != (self.group, self.resource, self.namespace, self.name):
            return False
        # One of an earlier object of this name is no news of this one.
        return not (request.uid and self.uid) or request.uid == self.uid


@dataclass(frozen=True, slots=True)
class Write:
    """One write that went well."""

    cr: str
    run: str
    at: datetime  # when it was sent
    ended: datetime  # when it was answered
    verb: str
    patch_type: str
    subresource: str
    manager: str
    leaves: tuple[str, ...]
    task: str  # its name; empty: the write came outside of any task
    place: str
    task_id: str = ""  # among the tasks of its run

    @property
    def is_apply(self) -> bool:
        return self.patch_type == "apply"

    @property
    def is_whole(self) -> bool:
        """Whether what it does not name is gone, or back at its default."""
        return self.verb in ("create", "update") and self.subresource != "scale"

    @property
    def names_all(self) -> bool:
        """Whether its fields are known: a body may be too long, or of an unknown form."""
        return 0 < len(self.leaves) < MOST_LEAVES

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        values["at"], values["ended"] = self.at.isoformat(), self.ended.isoformat()
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Write:
        """Raises `KeyError` or `ValueError` where it is none."""
        values = {"task_id": "", **values}  # another release may answer without it
        parsed: dict[str, Any] = {each.name: values[each.name] for each in fields(cls)}
        parsed["at"], parsed["ended"] = (
            datetime.fromisoformat(parsed[key]) for key in ("at", "ended")
        )
        parsed["leaves"] = tuple(parsed["leaves"])
        return cls(**parsed)


def writes_of(record: RunRecord, cr: str, target: BlamedObject) -> list[Write]:
    """Those of one run, newest first."""
    found = [
        _write(record, request, cr)
        for request in record.requests
        if request.verb in _VERBS
        and request.is_write
        and 200 <= request.code < 300
        and request.subresource in _SUBRESOURCES
        and target.is_of(request)
    ]
    return sorted(found, key=lambda write: write.at, reverse=True)


def _write(record: RunRecord, request: RecordedRequest, cr: str) -> Write:
    at = record.began + timedelta(seconds=request.at_s - record.began_s)
    task = record.task_of(request)
    return Write(
        cr=cr,
        run=record.run,
        at=at,
        ended=at + timedelta(seconds=request.seconds),
        verb=request.verb,
        patch_type=request.patch_type,
        subresource=request.subresource,
        manager=request.manager,
        leaves=_leaves(request),
        task="" if task is None else task.name or task.action,
        place="" if task is None else task.place,
        task_id="" if task is None else task.uuid,
    )


def _leaves(request: RecordedRequest) -> tuple[str, ...]:
    if (request.group, request.resource) != ("", "secrets"):
        return request.leaves
    # The API server makes `data` of it.
    return tuple(
        leaf.replace(".stringData", ".data", 1) if leaf.startswith(".stringData") else leaf
        for leaf in request.leaves
    )
