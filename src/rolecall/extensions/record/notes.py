"""The notes of one run in flight: requests as the proxy answers them, tasks as the play reports them.

Promises: noting never fails and never waits; after `MOST_REQUESTS` nothing more is kept, and the record
says that it is not complete. Which task made a request is decided at the end, by time: a play's tasks
follow each other, and both ends read the same clock. Of tasks that run side by side (several hosts,
`strategy: free`) the one that began last is taken.

The hard part is that the report of a task may come after its first request, since they take different
ways. Hence the times, and not the order of arrival. Rejected: a credential for each task. Programs keep
a kubeconfig for as long as they live, and plays pass theirs on.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs

from rolecall.clock import Clock
from rolecall.dry_run import is_dry_run, query_in_force
from rolecall.extensions.record.packed import NO_KIND, NotedRequest, PackedRequests, RequestKind
from rolecall.json_object import as_map
from rolecall.record import (
    MOST_BYTES,
    NO_TASK,
    IsOwned,
    ReadProtobuf,
    RecordedRequest,
    RecordedTask,
    RunRecord,
    SeenAnswer,
    leaves_of_write,
    parsed_body,
    patch_type_of,
    seen_in,
    write_record,
)

MOST_REQUESTS = 10_000
_MOST_TASKS = 20_000
_LONGEST_QUERY = 2000
_LONGEST_TEXT = 300
_LONGEST_MANAGER = 128  # as the API server cuts it
_STARTS = ("playbook_on_task_start", "playbook_on_handler_task_start")
_ENDS = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_skipped": "skipped",
    "runner_on_unreachable": "unreachable",
}
_ITEM_SKIPPED = "runner_item_on_skipped"
_INCLUDES = frozenset({"include_tasks", "include_role", "include"})
# The reason of a skip, as Ansible prints it with `-v`; the event itself gives none.
_EMPTY_LOOP = '"skipped_reason": "No items in the list"'
# In discovery of all groups at once, of one whose server does not answer; its kinds may be left out.
_STALE = re.compile(rb'"freshness"\s*:\s*"Stale"')
_LONGEST_STALE = 40
_SWITCHING_PROTOCOLS = 101
_WITH_BODY = frozenset({"create", "update", "patch"})
_NOTHING_SEEN = SeenAnswer()


class AboutRequest(Protocol):
    """What the proxy knows of a request from its method and URL."""

    @property
    def verb(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def resource(self) -> str: ...
    @property
    def subresource(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(slots=True)
class RequestNote:
    """One request while it is answered; what it showed is taken from the pieces that pass."""

    about: AboutRequest
    query: str
    at_s: float
    sent_type: str = ""
    sent: bytes = b""
    sent_bytes: int = 0
    agent: str = ""  # the program that asks, as its `User-Agent` says
    answer_type: str = ""
    answered_bytes: int = 0
    is_stream: bool = False
    code: int = 0  # of an answer that has begun
    read_protobuf: ReadProtobuf | None = None
    is_stale: bool = False  # a discovery document in which an aggregated server is missing
    _end: bytes = b""  # of the last piece
    _pieces: list[bytes] = field(default_factory=list)

    def send(self, body: bytes) -> None:
        """What the play sent, as a whole."""
        self.sent, self.sent_bytes = body, len(body)

    def answer(self, piece: bytes) -> None:
        """The next piece of the answer."""
        self.answered_bytes += len(piece)
        if not self.about.resource and not self.is_stale:
            seen = self._end + piece
            self.is_stale = _STALE.search(seen) is not None
            self._end = seen[-_LONGEST_STALE:]
        if self.answered_bytes <= MOST_BYTES and not self.is_stream:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def seen(self, is_owned: IsOwned) -> SeenAnswer:
        """What a good answer showed."""
        if self.is_stream:
            return SeenAnswer(unread="it is a stream")
        if self.answered_bytes > MOST_BYTES:
            return SeenAnswer(unread=f"its answer has more than {MOST_BYTES // 1024} KB")
        return seen_in(self.answer_type, b"".join(self._pieces), is_owned, self.read_protobuf)

    def named_in_body(self) -> str:
        """The name of the object that a create sent; the path of a create has none."""
        if not 0 < len(self.sent) <= MOST_BYTES:
            return ""
        sent = parsed_body(self.sent_type, self.sent)
        if sent is None and self.read_protobuf is not None:
            sent = self.read_protobuf(self.sent)
        name = as_map(as_map(sent).get("metadata")).get("name")
        return name if isinstance(name, str) else ""


class RunNotes:
    """One run's; requests and tasks are noted on the loop, the file is written off it."""

    def __init__(self, run_id: str, is_owned: IsOwned, clock: Clock) -> None:
        self._run_id, self._is_owned, self._clock = run_id, is_owned, clock
        self._began, self._began_s = clock.now(), clock.monotonic()
        self._tasks: list[RecordedTask] = []
        self._index: dict[str, int] = {}  # of a task's uuid
        self._requests = PackedRequests()
        self._open: dict[int, RequestNote] = {}  # not answered yet, by identity
        self._incomplete = ""

    def begin(self, about: AboutRequest, query: str) -> RequestNote:
        """A request came."""
        note = RequestNote(about, query, self._clock.monotonic())
        self._open[id(note)] = note
        return note

    def end(self, note: RequestNote, code: int) -> None:
        """It was answered; 0: the run ended before that."""
        self._open.pop(id(note), None)
        if len(self._requests) >= MOST_REQUESTS:
            self._incomplete = f"the run made more than {MOST_REQUESTS:,} requests"
            return
        kind = self._requests.kind(_kind_of(note.about))
        self._requests.add(self._noted(note, code, kind))

    def task(
        self, event: str, data: Mapping[str, Any], at_s: float, *, place: str = "", said: str = ""
    ) -> None:
        """What the play reported and printed; only beginnings and ends of tasks are looked at."""
        uuid = data.get("task_uuid")
        if not isinstance(uuid, str):
            return
        if event in _STARTS:
            self._begin_task(uuid, data, at_s, place)
        elif event in _ENDS and (number := self._index.get(uuid)) is not None:
            outcome = _ENDS[event]
            result = data.get("res")
            if outcome == "ok" and isinstance(result, dict) and result.get("changed") is True:
                outcome = "changed"
            is_left_out = outcome == "skipped" and _EMPTY_LOOP not in said
            self._tasks[number] = replace(
                self._tasks[number],
                ended_s=at_s,
                outcome=outcome,
                left_out=self._tasks[number].left_out or is_left_out,
            )
        elif event == _ITEM_SKIPPED and (number := self._index.get(uuid)) is not None:
            self._tasks[number] = replace(self._tasks[number], left_out=True)

    def has_touched(self, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether the run asked for this object by name so far."""
        wanted = (group, resource, namespace, name)
        return any(
            (kind.group, kind.resource, kind.namespace, noted.name) == wanted
            for kind, noted in self._requests.unpacked()
        )

    def has_deleted(self, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether the run asked for the deletion of this object so far."""
        wanted = ("delete", group, resource, namespace, name)
        return any(
            (kind.verb, kind.group, kind.resource, kind.namespace, noted.name) == wanted
            and not is_dry_run(kind.verb, noted.query)
            for kind, noted in self._requests.unpacked()
        )

    def has_seen(self, uid: str, version: str) -> bool:
        """Whether the run read or wrote this object at this version so far."""
        return any(
            (noted.uid, noted.object_version) == (uid, version)
            for _, noted in self._requests.unpacked()
        )

    def unowned(self) -> set[str]:
        """UIDs of objects that the run asked for by name, and that the CR did not own."""
        shown = {noted.uid: noted.is_owned for _, noted in self._requests.unpacked() if noted.uid}
        return {uid for uid, is_owned in shown.items() if not is_owned}

    def record(self) -> RunRecord:
        """What is known by now."""
        return RunRecord(
            run=self._run_id,
            began=self._began,
            began_s=self._began_s,
            tasks=tuple(self._tasks),
            requests=tuple(self._recorded()),
            ended_s=self._clock.monotonic(),
            incomplete=self._incomplete,
        )

    def write_into(self, folder: Path) -> None:
        """Keep it beside the run's other artifacts; blocking."""
        write_record(folder, self.record())

    def _noted(self, note: RequestNote, code: int, kind: int) -> NotedRequest:
        about, is_good = note.about, 200 <= code < 300
        seen = _NOTHING_SEEN
        if code == _SWITCHING_PROTOCOLS:
            seen = SeenAnswer(unread="it is a stream")
        elif is_good and note.is_stale:
            seen = SeenAnswer(unread="a server whose kinds it lists did not answer")
        elif is_good and about.resource and about.verb != "deletecollection":
            seen = note.seen(self._is_owned)
        has_body = about.verb in _WITH_BODY and bool(note.sent)
        name = about.name or seen.name
        if not name and about.verb == "create" and about.resource:
            name = note.named_in_body()  # it was refused: "there already" is about an object, too
        return NotedRequest(
            kind=kind,
            at_s=note.at_s,
            seconds=self._clock.monotonic() - note.at_s,
            name=name,
            code=code,
            path="" if about.resource else about.path[:_LONGEST_TEXT],
            query=query_in_force(about.verb, note.query, note.sent)[:_LONGEST_QUERY],
            sent_bytes=note.sent_bytes,
            answered_bytes=note.answered_bytes,
            patch_type=patch_type_of(note.sent_type) if about.verb == "patch" else "",
            manager=_manager_of(note) if about.verb in _WITH_BODY else "",
            object_version=seen.object_version,
            uid=seen.uid,
            is_owned=seen.is_owned,
            items=seen.items,
            items_digest=seen.items_digest,
            named_items=seen.named_items,
            leaves=leaves_of_write(note.sent_type, note.sent) if has_body else (),
            unread=seen.unread,
        )

    def _recorded(self) -> Iterator[RecordedRequest]:
        """Each request with the task that was under way when it came."""
        tasks = self._tasks
        order = sorted(range(len(tasks)), key=lambda number: tasks[number].began_s)
        begins = [tasks[number].began_s for number in order]
        # Their kind is beside them, and numbers none: a thread may ask while requests are noted.
        unanswered = [
            (_kind_of(note.about), self._noted(note, note.code, NO_KIND))
            for note in [*self._open.values()]
        ]
        for number, (kind, noted) in enumerate([*self._requests.unpacked(), *unanswered]):
            task = _task_at(noted.at_s, tasks, order, begins)
            values = noted._asdict()
            del values["kind"]
            yield RecordedRequest(number=number, task=task, **kind._asdict(), **values)

    def _begin_task(self, uuid: str, data: Mapping[str, Any], at_s: float, place: str) -> None:
        if len(self._tasks) >= _MOST_TASKS:
            self._incomplete = f"the run has more than {_MOST_TASKS:,} tasks"
            return
        self._index[uuid] = len(self._tasks)
        name, action = str(data.get("task", "")), str(data.get("task_action", ""))
        includes = str(data.get("task_args") or "") if _is_include(action) else ""
        texts = [text[:_LONGEST_TEXT] for text in (name, place, action, includes)]
        name, place, action, includes = texts
        self._tasks.append(RecordedTask(uuid, name, place, action, at_s, includes=includes))


def _is_include(action: str) -> bool:
    return action.rpartition(".")[2] in _INCLUDES


def _kind_of(about: AboutRequest) -> RequestKind:
    return RequestKind(
        about.verb,
        about.group,
        about.version,
        about.resource,
        about.subresource,
        about.namespace,
    )


def _manager_of(note: RequestNote) -> str:
    """Under which field manager the API server notes a write: it is named, or taken of the program."""
    named = parse_qs(note.query).get("fieldManager") if "fieldManager" in note.query else None
    return (named[0] if named else note.agent.partition("/")[0])[:_LONGEST_MANAGER]


def _task_at(at_s: float, tasks: list[RecordedTask], order: list[int], begins: list[float]) -> int:
    place = bisect.bisect_right(begins, at_s) - 1
    if place < 0:
        return NO_TASK
    ended_s = tasks[order[place]].ended_s
    return order[place] if ended_s is None or at_s <= ended_s else NO_TASK
