"""Roles of a few tasks, and runs of them that are recorded as the proxy and the play report them.

A run keeps the truth beside its record: what each task wanted, which came to their end, and whether the
run as a whole did all that it does.
"""

from __future__ import annotations

import copy
import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from rolecall.extensions.record.notes import RunNotes
from rolecall.json_object import Json
from rolecall.record import TaskId
from rolecall.runner import Ending, RunResult, TaskFailure
from rolecall.runner.cut_short import CutShort
from tests.unit.extensions.prune.histories.api import (
    CONFIG_MAP,
    HOME,
    SHELF,
    SOURCE,
    Api,
    Kind,
    Place,
)

K8S, INFO, SHELL = "kubernetes.core.k8s", "kubernetes.core.k8s_info", "ansible.builtin.shell"
HELM, INCLUDE, URI = "kubernetes.core.helm", "ansible.builtin.include_tasks", "ansible.builtin.uri"
ITEMS = "abc"
# The engine takes none of these for an answer.
_FAULTS = (0, 401, 403, 429, 500, 503)
_EMPTY_LOOP = 'skipping: [localhost] => {"skipped_reason": "No items in the list"}'


@dataclass(frozen=True)
class Step:
    """A task or a few that belong together; `what` says how objects come to be."""

    what: str
    number: int
    kind: Kind = CONFIG_MAP
    prefix: str = "own"  # of names: own, common (to steps of the role), shared (by all CRs)
    name: str = ""  # of the task; an upgrade of the role may change it
    condition: str = ""  # `when`, of the task
    item_condition: str = ""  # `when`, of the item `a`
    is_listed: bool = False  # in `prune.tasks`

    @property
    def flag(self) -> str:
        return f"on{self.number}"

    @property
    def key(self) -> str:
        return f"items{self.number}"


@dataclass
class World:
    """What plays look at beside their CR."""

    ready: set[str] = field(default_factory=lambda: {"x", "y"})
    discovery_is_down: bool = False
    fault_rate: float = 0.0
    releases: dict[tuple[str, int], set[str]] = field(default_factory=dict)


class Failed(Exception):  # noqa: N818 - a task of the role fails
    """It got this code for an answer."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _About(NamedTuple):
    verb: str
    path: str
    group: str
    version: str
    resource: str
    namespace: str
    name: str
    subresource: str = ""


class _Clock:
    """It moves with each look."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        self._seconds += 0.001
        return self._seconds

    boottime = monotonic

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")


class Play:
    """A run in flight: its driver performs `tasks` one after the other."""

    def __init__(
        self, api: Api, cr: Json, role: list[Step], world: World, chance: random.Random
    ) -> None:
        self.api, self.cr, self.role, self.world = api, copy.deepcopy(cr), role, world
        self._chance = chance
        uid = cr["metadata"]["uid"]
        self.notes = RunNotes(
            "1",
            lambda about: any(row["uid"] == uid for row in about.get("ownerReferences") or ()),
            clock := _Clock(),
        )
        self._clock, self._cut = clock, CutShort()
        self._stats: Counter[str] = Counter()
        self._uuid = ""
        self._task = TaskId("", "", "")
        # The truth.
        self.wanted: dict[Place, set[TaskId]] = {}
        self.ended: dict[TaskId, bool] = {}  # those that began: whether each did all that it does
        self.is_whole = True
        self.has_failed = False
        self.seen: set[Place] = set()  # of what it wants: those that an answer showed

    @property
    def name(self) -> str:
        return str(self.cr["metadata"]["name"])

    def tasks(self) -> list[Callable[[], None]]:
        return [lambda step=step: self._perform(step) for step in self.role]  # type: ignore[misc]

    def fail(self) -> None:
        """A task of its own fails, and the play with it."""
        self.is_whole, self.has_failed = False, True

    def end_early(self) -> None:
        """`meta: end_play`; where it stands cannot be read."""
        self.is_whole = False
        data = {"task_uuid": "end", "task": "end", "task_action": "meta", "task_path": "/none:1"}
        self._cut.note_start(data)
        self.notes.task("playbook_on_task_start", data, self._clock.monotonic())

    def result(self, ending: Ending, *, requeues: bool = False) -> RunResult:
        if ending is not Ending.FINISHED or requeues:
            self.is_whole = False
        failures = [TaskFailure("failed", "a task", "main.yml:1")] if self.has_failed else []
        stats = {what: {"localhost": number} for what, number in self._stats.items()}
        return RunResult(
            "1",
            ending,
            0,
            failures=failures,
            cut_short=self._cut.why(stats),
            requeue_after_s=5.0 if requeues else None,
        )

    def _perform(self, step: Step) -> None:
        getattr(self, f"_{step.what}")(step)

    # The steps.

    def _ensure(self, step: Step, file: str = "main.yml") -> None:
        """`kubernetes.core.k8s` in a loop."""
        with self._begun(step.name, K8S, file):
            if step.condition and step.condition not in self.world.ready:
                self._skip()
                return
            items = self._spec(step.key)
            for item in items:
                if item == "a" and step.item_condition and step.item_condition not in self._ready:
                    self._skip_item()
                else:
                    self._make(self.place(step, item))
            self._end(is_empty=not items)

    def _included(self, step: Step) -> None:
        """A file of tasks, included where a condition holds."""
        with self._begun("include", INCLUDE, "main.yml", args=f"_raw_params=part{step.number}.yml"):
            if step.condition not in self._ready:
                self._skip()
                return
            self._end()
        self._ensure(Step(**{**vars(step), "condition": ""}), f"part{step.number}.yml")

    def _create(self, step: Step) -> None:
        """`kubectl create ... || true` in a shell."""
        with self._begun(step.name, SHELL):
            for item in self._spec(step.key):
                self._post(self.place(step, item))
            self._end()

    def _tool(self, step: Step) -> None:
        """`helm` keeps its own state, and touches nothing when nothing changed."""
        release = (self.cr["metadata"]["uid"], step.number)
        items, there = set(self._spec(step.key)), self.world.releases.get(release, set())
        with self._begun(step.name, HELM):
            for item in sorted(items):
                if items == there:
                    self._want(self.place(step, item))
                else:
                    self._make(self.place(step, item))
            for item in sorted(there - items):
                self._remove(self.place(step, item))
            self.world.releases[release] = items
            self._end()

    def _generate(self, step: Step) -> None:
        """Make one with a name of its own, unless a list shows one."""
        label = f"{self.name}-{step.number}"
        found: list[Json] = []
        with self._begun(f"{step.name} look", INFO):
            found = self._list(step.kind, label)
            self._end()
        if self.has_failed:
            return
        with self._begun(step.name, K8S):
            for each in found:
                self._want(Place(step.kind, HOME, each["metadata"]["name"]))
            if found:
                self._skip()
            else:
                self._post(Place(step.kind, HOME, f"{label}-{uuid.UUID(int=self._draw())}"), label)
                self._end()

    def _mirror(self, step: Step) -> None:
        """An object for each that a list shows, of a kind that an extension server may serve."""
        found: list[Json] = []
        with self._begun(f"{step.name} look", INFO):
            path = f"/apis/{SOURCE.group}/{SOURCE.version}"
            is_down = self.world.discovery_is_down
            self._note(_About("get", path, "", "", "", "", ""), {}, 503 if is_down else 200)
            self.is_whole = self.is_whole and not is_down
            found = [] if is_down else self._list(SOURCE, "")
            self._end()  # `api_found: false` is no failure
        if self.has_failed:
            return
        with self._begun(step.name, K8S):
            for each in found:
                self._make(self.place(step, each["metadata"]["name"]))
            self._end(is_empty=not found)

    def _toggle(self, step: Step) -> None:
        """Present or absent, by a condition on the spec."""
        is_on = bool(self.cr["spec"].get(step.flag))
        with self._begun(step.name, K8S):
            if is_on:
                self._make(self.place(step, "it"))
                self._end()
            else:
                self._skip()
        if self.has_failed:
            return
        with self._begun(f"{step.name} not", K8S):
            if is_on:
                self._skip()
            else:
                self._remove(self.place(step, "it"))
                self._end()

    def _read(self, step: Step) -> None:
        """Look at objects of another step by name."""
        with self._begun(step.name, INFO):
            for item in self._spec(step.key):
                self._get(self.place(step, item))
            self._end()

    def _ask(self, step: Step) -> None:
        """Something outside of the cluster fails at times, and is swallowed."""
        with self._begun(step.name, URI):
            if self._chance.random() < self.world.fault_rate:
                self.is_whole = False
                self._end(result={"failed_when_result": False, "status": 503, "msg": "down"})
            else:
                self._end(result={"status": 200})

    # What they are made of.

    def place(self, step: Step, item: str) -> Place:
        prefix = {"own": f"{self.name}-{step.number}", "common": f"{self.name}-common"}
        return Place(step.kind, HOME, f"{prefix.get(step.prefix, step.prefix)}-{item}")

    @property
    def _ready(self) -> set[str]:
        return self.world.ready

    def _spec(self, key: str) -> list[str]:
        return list(self.cr["spec"].get(key, ()))

    def _draw(self) -> int:
        return self._chance.getrandbits(128)

    def _make(self, place: Place) -> None:
        self._want(place)
        there = self._get(place)
        if there is None:
            self._post(place)
            return
        self.seen.add(place)
        if self._chance.random() < 0.2:  # it differed
            fault = self._fault()
            refusals = [409, 422] if self.world.fault_rate else []
            code = self._chance.choice([200] * 8 + refusals) if fault is None else fault
            body = self.api.put(place) if code == 200 else _status(place)
            self._note(_about("patch", place), body, code)
            self._check(code)

    def _post(self, place: Place, label: str = "") -> None:
        """Create it; the name is in the body alone, and 409 means that it is there."""
        self._want(place)
        metadata = {"name": place.name, "namespace": HOME}
        sent = json.dumps({"kind": place.kind.kind, "metadata": metadata}).encode()
        about = _about("create", place)._replace(name="")
        if (code := self._fault()) is not None:
            self._note(about, _status(place), code, sent)
            self._check(code)
        elif place in self.api.objects:
            self._note(about, _status(place), 409, sent)
            self.seen.add(place)
        else:
            labels = {label: "yes"} if label else {}
            self._note(
                about, self.api.put(place, ownerReferences=[self._owner], labels=labels), 201
            )
            self.seen.add(place)

    def _remove(self, place: Place) -> None:
        if self._get(place) is not None:
            del self.api.objects[place]
            self._note(_about("delete", place), {"kind": "Status"}, 200)

    def _get(self, place: Place) -> Json | None:
        if (code := self._fault()) is not None:
            self._note(_about("get", place), _status(place), code)
            self._check(code)
        there = self.api.objects.get(place)
        self._note(_about("get", place), there or _status(place), 200 if there else 404)
        return there

    def _list(self, kind: Kind, label: str) -> list[Json]:
        about = _about("list", Place(kind, HOME, ""))
        query = f"labelSelector={quote(label)}" if label else ""
        if (code := self._fault()) is not None:
            self._note(about, {}, code, query=query)
            self._check(code)
        found = self.api.listed(kind, label)
        body = {"kind": f"{kind.kind}List", "metadata": {"resourceVersion": "1"}, "items": found}
        self._note(about, body, 200, query=query)
        return found

    def _fault(self) -> int | None:
        if self._chance.random() >= self.world.fault_rate:
            return None
        self.is_whole = False
        return self._chance.choice(_FAULTS)

    def _check(self, code: int) -> None:
        if code not in (200, 201):
            raise Failed(code)

    @property
    def _owner(self) -> Json:
        about = {"apiVersion": SHELF.gvk.api_version, "kind": SHELF.kind}
        return {**about, "name": self.name, "uid": self.cr["metadata"]["uid"]}

    def _want(self, place: Place) -> None:
        self.wanted.setdefault(place, set()).add(self._task)

    def _note(
        self, about: _About, body: Json, code: int, sent: bytes = b"", *, query: str = ""
    ) -> None:
        note = self.notes.begin(about, query)
        note.sent_type = note.answer_type = "application/json"
        if sent:
            note.send(sent)
        if code:
            note.answer(json.dumps(body).encode())
        self.notes.end(note, code)

    @contextmanager
    def _begun(
        self, name: str, action: str, file: str = "main.yml", args: str = ""
    ) -> Iterator[None]:
        """A task; a request that fails fails it, unless that is ignored, rescued or swallowed."""
        path = f"roles/shelf/tasks/{file}"
        self._task = TaskId(action, path, name)
        self._uuid = str(len(self.ended)) + name
        self.ended[self._task] = self.ended.get(self._task, True)
        self._report(
            "playbook_on_task_start", task_action=action, task_args=args, task_path=f"{path}:1"
        )
        try:
            yield
        except Failed as failure:
            self.is_whole = self.ended[self._task] = False
            hows = ["fails", "ignored", "rescued", "swallowed"]
            how = self._chance.choice(hows + ["hidden"] * 2 * (failure.code in _FAULTS))
            if how == "hidden":  # within the module: nothing but the answer shows it
                self._end()
                return
            if how == "swallowed":
                self._end(result={"failed_when_result": False, "msg": "failed", "status": 500})
                return
            self._report("runner_on_failed", res={})
            if how == "fails":
                self.has_failed = True
            else:
                self._stats[how] += 1

    def _end(self, *, is_empty: bool = False, result: Json | None = None) -> None:
        if is_empty:
            self._report("runner_on_skipped", said=_EMPTY_LOOP)
        else:
            self._report("runner_on_ok", res=result or {})

    def _skip(self) -> None:
        self.ended[self._task] = False
        self._report("runner_on_skipped", said="skipping: [localhost]")

    def _skip_item(self) -> None:
        self.ended[self._task] = False
        self._report("runner_item_on_skipped")

    def _report(self, event: str, said: str = "", **data: Any) -> None:
        data |= {"task_uuid": self._uuid, "task": self._task.name}
        place = str(data.get("task_path", ""))
        self.notes.task(event, data, self._clock.monotonic(), place=place, said=said)
        if event.startswith("playbook"):
            self._cut.note_start(data)
        else:
            self._cut.note_end(event, data)


def _about(verb: str, place: Place) -> _About:
    kind = place.kind
    return _About(verb, "", kind.group, kind.version, kind.plural, place.namespace, place.name)


def _status(place: Place) -> Json:
    return {"kind": "Status", "status": "Failure", "details": {"name": place.name}}
