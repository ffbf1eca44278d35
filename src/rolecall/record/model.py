"""A run's record: its tasks, and each request that it made, with the task that made it.

Promise: names, versions and paths of fields, never a value of one, and no body. So a record holds no
content of a Secret, but it names Secrets, and is for those who may read the run's artifacts.

Times are those of the clock that never jumps, which all processes of a machine share; only their
distances mean anything. A record that is not complete shows what it has; nothing is decided from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from rolecall.dry_run import is_dry_run

# What stands for the task of a request that came while none ran: of a background process, for one.
NO_TASK = -1


class TaskId(NamedTuple):
    """A task of a role in any of its runs; without its line, which an edit of the file moves."""

    action: str
    file: str  # `roles/web/tasks/main.yml`
    name: str


@dataclass(frozen=True, slots=True)
class RecordedTask:
    uuid: str
    name: str
    place: str  # `roles/web/tasks/main.yml:12`
    action: str
    began_s: float
    ended_s: float | None = None  # None: the run ended in it
    outcome: str = ""  # ok, changed, failed, skipped, unreachable; empty while it runs
    left_out: bool = False  # a condition skipped it, or one of its items
    includes: str = ""  # arguments of an include, which name what it includes

    @property
    def id(self) -> TaskId:
        file = self.place.rpartition(":")[0]
        _, found, inside = f"/{file}".rpartition("/roles/")  # wherever the project lies
        return TaskId(self.action, f"roles/{inside}" if found else file, self.name)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    number: int  # from 0, in the order in which they came
    at_s: float
    seconds: float
    verb: str  # as RBAC has it: get, list, watch, create, update, patch, delete ...
    group: str
    version: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int  # 0: the run ended before there was an answer
    path: str = ""  # of a request that is about no object
    query: str = ""  # as it was sent: selectors, field manager; of a delete, the dry run in force
    task: int = NO_TASK  # index into the record's tasks
    sent_bytes: int = 0
    answered_bytes: int = 0
    patch_type: str = ""  # json, merge, strategic, apply
    manager: str = ""  # of a write: the field manager that the API server notes for it
    # What the answer showed; empty where it could not be read.
    object_version: str = ""  # the object's, or that of the list
    uid: str = ""
    is_owned: bool = False  # the object names the CR of the run as its owner
    items: int | None = None  # of a list
    items_digest: str = ""  # changes when an item comes, goes, or has another version
    named_items: tuple[str, ...] = ()  # the first of them: `namespace/name@version`
    leaves: tuple[str, ...] = ()  # paths of the fields in a write's body
    # Why what was read is not known: too long, a stream, a format that is not looked into.
    unread: str = ""

    @property
    def is_write(self) -> bool:
        return self.verb in _WRITES and not self.is_dry_run

    @property
    def is_dry_run(self) -> bool:
        return "dryRun" in self.query and is_dry_run(self.verb, self.query)

    @property
    def resource_name(self) -> str:
        """`deployments.apps/web`, as kubectl would have it."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f"{resource}/{self.name}" if self.name else resource
        return f"{named}/{self.subresource}" if self.subresource else named


_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All that is known of one run's requests."""

    run: str
    began: datetime
    began_s: float
    tasks: tuple[RecordedTask, ...] = ()
    requests: tuple[RecordedRequest, ...] = ()
    ended_s: float | None = None
    incomplete: str = ""  # why it is, in words for people; empty: it is complete

    @property
    def is_complete(self) -> bool:
        return not self.incomplete

    def task_of(self, request: RecordedRequest) -> RecordedTask | None:
        return None if request.task == NO_TASK else self.tasks[request.task]

    @property
    def unread(self) -> str:
        """Why something that the run read is not known; empty: all of it is."""
        unread = (each for each in self.requests if each.unread)
        return next((f"{each.verb} {each.resource_name}: {each.unread}" for each in unread), "")


class RequestsSoFar(Protocol):
    """What a run asked for so far; each question but the last costs less than a record."""

    def has_touched(self, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether it asked for this object by name."""

    def has_deleted(self, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether it asked for the deletion of this object."""

    def has_seen(self, uid: str, version: str) -> bool:
        """Whether it read or wrote this object at this version."""

    def unowned(self) -> set[str]:
        """UIDs of objects that it asked for by name, and that its CR did not own."""

    def record(self) -> RunRecord:
        """All that is known by now; better made in a thread."""
