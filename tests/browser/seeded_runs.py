"""The artifacts of runs that never were: `run.json`, `spec.json`, events, `record.json` and output, as
the engine and ansible-runner write them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from rolecall.history import FailedTask, KeptRun, kept_cr, this_process, write_run, write_spec
from rolecall.json_object import Json
from rolecall.record import (
    RecordedRequest,
    RecordedTask,
    RunRecord,
    leaves_of_object,
    write_record,
)
from rolecall.workqueue import Key
from tests.browser.seeded_objects import MANAGER, gvk_of, resource_of, uid_of
from tests.browser.seeded_roles import RoleTask, SeededRole


@dataclass(slots=True)
class SeededRun:
    """A run as it is to be written."""

    key: Key
    role: SeededRole
    began: datetime
    seconds: float
    cause: str = "period"
    outcome: str = "succeeded"  # running: as far as `progress`
    message: str = ""  # of the failure
    fails_in: int = -1  # number of the task
    changes: frozenset[int] = frozenset()  # numbers of the tasks
    progress: float = 1.0
    tasks: Sequence[RoleTask] = ()  # in place of the role's
    spec: Json = field(default_factory=dict)
    generation: int = 1
    cpu_s: float = 0.0

    @property
    def ended(self) -> datetime | None:
        is_over = self.outcome != "running"
        return self.began + timedelta(seconds=self.seconds) if is_over else None


@dataclass(frozen=True, slots=True)
class PlayedTask:
    task: RoleTask
    number: int
    began_s: float
    ended_s: float | None
    outcome: str


@dataclass(slots=True)
class RunWriter:
    """Writes runs below a root; `random` decides what is not given."""

    root: Path
    random: Random
    written: int = 0
    _process: Any = field(default_factory=this_process)

    def write(self, run: SeededRun, *, events: bool = False, record: bool = False) -> str:
        """The id of the run. Oldest runs of a CR first, as an engine does."""
        self.written += 1
        run_id = f"{7_412_000_000_000_000_000 + self.written * 10_007}"
        key = run.key
        folder = kept_cr(self.root, key.gvk, key.namespace, key.name).artifacts / run_id
        folder.mkdir(parents=True)
        played = list(self._played(run))
        write_run(self._kept(run, run_id, folder, played))
        if run.spec:
            write_spec(folder, run.spec)
        if record and run.outcome != "running":
            write_record(folder, self._record(run, run_id, played))
        if events:
            self._write_events(folder, run, played)
        # An engine looks at newest folders first, and trusts their times.
        stamp = (run.ended or run.began).timestamp()
        for each in (folder / "run.json", folder):
            os.utime(each, (stamp, stamp))
        return run_id

    def _played(self, run: SeededRun) -> Iterator[PlayedTask]:
        tasks = run.tasks or run.role.tasks
        whole, at_s = sum(task.share for task in tasks), 0.3
        until_s = run.seconds * run.progress
        for number, task in enumerate(tasks):
            length_s = task.share / whole * (run.seconds - 0.4)
            if run.outcome == "running" and at_s + length_s > until_s:
                yield PlayedTask(task, number, at_s, None, "")
                return
            outcome = "changed" if number in run.changes else "ok"
            outcome = "failed" if number == run.fails_in else outcome
            yield PlayedTask(task, number, at_s, at_s + length_s * 0.97, outcome)
            if outcome == "failed":
                return
            at_s += length_s

    def _kept(
        self, run: SeededRun, run_id: str, folder: Path, played: Sequence[PlayedTask]
    ) -> KeptRun:
        failed = next((each for each in played if each.outcome == "failed"), None)
        place = run.role.place(failed.number) if failed else ""
        is_running = run.outcome == "running"
        endings = {"succeeded": "Finished", "failed": "Finished", "cancelled": "Cancelled"}
        return KeptRun(
            run_id,
            kind=run.key.gvk.kind,
            api_version=run.key.gvk.api_version,
            namespace=run.key.namespace,
            name=run.key.name,
            uid=uid_of(run.key.gvk.kind, run.key.namespace, run.key.name),
            generation=run.generation,
            cause=run.cause,
            way="warm",
            began=run.began,
            ended=run.ended,
            outcome=run.outcome,
            ending="" if is_running else endings.get(run.outcome, ""),
            seconds=None if is_running else round(run.seconds, 3),
            cpu_s=None if is_running else round(run.cpu_s or run.seconds * 0.11, 3),
            changed_tasks=tuple(
                f"{run.role.place(each.number)}: {each.task.name}"
                for each in played
                if each.outcome == "changed"
            ),
            failed_task=FailedTask(failed.task.name, place, run.message) if failed else None,
            reason=f"{failed.task.name}: {run.message}" if failed else run.message,
            engine=self._process,
            folder=folder,
        )

    def _record(self, run: SeededRun, run_id: str, played: Sequence[PlayedTask]) -> RunRecord:
        zero_s = run.began.timestamp() % 1e6
        requests: list[RecordedRequest] = []
        for each in played:
            requests += self._requests(run, each, zero_s, len(requests))
        tasks = tuple(
            RecordedTask(
                f"uuid-{each.number}",
                each.task.name,
                run.role.place(each.number),
                each.task.action,
                zero_s + each.began_s,
                None if each.ended_s is None else zero_s + each.ended_s,
                each.outcome,
            )
            for each in played
        )
        return RunRecord(run_id, run.began, zero_s, tasks, tuple(requests), zero_s + run.seconds)

    def _requests(
        self, run: SeededRun, played: PlayedTask, zero_s: float, first: int
    ) -> Iterator[RecordedRequest]:
        """Those of one task: a read, a refusal and its retry, a write, or one read after the other."""
        task, ended_s = played.task, played.ended_s or played.began_s
        if not task.makes:
            return
        gvk, name = gvk_of(task.makes), f"{run.key.name}{task.called or suffix_of(task.makes)}"
        said: list[tuple[str, int]] = [("get", 200)] * (task.polls or 1)
        if played.outcome == "changed":
            said += [("patch", 409), ("patch", 200)] if task.is_refused_once else [("patch", 200)]
        step_s = (ended_s - played.began_s) / (len(said) + 0.5)
        for number, (verb, code) in enumerate(said):
            at_s = played.began_s + step_s * (number + 0.2)
            is_write = verb != "get"
            yield RecordedRequest(
                number=first + number,
                at_s=zero_s + at_s,
                seconds=min(step_s * 0.6, self.random.uniform(0.004, 0.09)),
                verb=verb,
                group=gvk.group,
                version=gvk.version,
                resource=resource_of(gvk).plural,
                subresource="",
                namespace=run.key.namespace,
                name=name,
                sent_bytes=620 + 90 * number if is_write else 0,
                answered_bytes=2_400 + 130 * number,
                code=code,
                task=played.number,
                patch_type="merge" if is_write else "",
                manager=MANAGER if is_write else "",
                uid=uid_of(task.makes, run.key.namespace, name) if code == 200 else "",
                object_version="4711" if code == 200 else "",
                is_owned=code == 200,
                leaves=_leaves(task.makes, run.key.name) if is_write else (),
            )

    def _write_events(self, folder: Path, run: SeededRun, played: Sequence[PlayedTask]) -> None:
        write_events(folder, run.began, run.role, played, message=run.message)
        done = "\n".join(f"TASK [{each.task.name}]\n{each.outcome}: [localhost]" for each in played)
        (folder / "stdout").write_text(f"PLAY [{run.role.kind}]\n{done}\n", errors="replace")


def write_events(
    folder: Path,
    began: datetime,
    role: SeededRole,
    played: Sequence[PlayedTask],
    *,
    message: str = "",
) -> None:
    """As ansible-runner writes them: one file for each event."""
    (folder / "job_events").mkdir()
    for place, each in enumerate(played):
        data: dict[str, Any] = {
            "task": each.task.name,
            "task_uuid": f"uuid-{each.number}",
            "task_action": each.task.action,
            "resolved_action": each.task.action,
            "task_path": f"/opt/ansible/{role.place(each.number)}",
        }
        start = {"event": "playbook_on_task_start", "event_data": data}
        _write_event(folder, 2 * place + 1, start, began, each.began_s)
        if each.ended_s is None:
            continue
        result: Json = {"changed": each.outcome == "changed"}
        result["invocation"] = {"module_args": {"state": "present", "wait": bool(each.task.polls)}}
        if each.outcome == "failed":
            result["msg"] = message
        ended = {"host": "localhost", "duration": each.ended_s - each.began_s, "res": result}
        name = "runner_on_failed" if each.outcome == "failed" else "runner_on_ok"
        end = {"event": name, "event_data": data | ended}
        _write_event(folder, 2 * place + 2, end, began, each.ended_s)


def suffix_of(kind: str) -> str:
    """What a role calls what it makes, behind the name of its CR."""
    return {"ConfigMap": "-config", "Secret": "-login", "Job": "-job"}.get(kind, "")


def _write_event(folder: Path, counter: int, event: Json, began: datetime, at_s: float) -> None:
    created = (began + timedelta(seconds=at_s)).isoformat()
    text = json.dumps({**event, "created": created, "counter": counter})
    (folder / "job_events" / f"{counter}-{counter:08}.json").write_text(text)


def _leaves(kind: str, name: str) -> tuple[str, ...]:
    container = {"name": "main", "image": "x", "resources": {"limits": {"memory": "x"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec: Any = {"replicas": 2, "template": template}
    body = {"data": {"key": "x"}} if kind in ("ConfigMap", "Secret") else {"spec": spec}
    labels = {"metadata": {"labels": {"app": name}}}
    return leaves_of_object({"apiVersion": gvk_of(kind).api_version, **labels, **body})
