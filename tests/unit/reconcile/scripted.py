"""A world in which tests write the script: what a run does, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.reconcile import RunAccess
from rolecall.runner import Ending, OnEvent, Recap, RunEvent, RunRequest, RunResult, TaskFailure
from rolecall.watches import Finalizer, Play, Watch
from rolecall.workqueue import Key
from tests.unit.reconcile.cluster_contract import FINALIZER
from tests.unit.workqueue.keys import APP

RECAP = Recap(ok=3, changed=1, completion="2026-11-21T09:00:00.5+00:00")
GOOD = RunResult("", Ending.FINISHED, rc=0, recap=RECAP, recap_stdout="PLAY RECAP", seconds=0.5)
DISK_FULL = TaskFailure("disk full", "apply | claim", "roles/app/tasks/main.yml:12")
BAD = replace(GOOD, rc=2, failures=(DISK_FULL,), recap=replace(RECAP, failures=1))

# What happens while a run is in flight, before its result is there.
Script = Callable[[RunRequest], Awaitable[RunResult | None]]


def watch_of(gvk: Gvk = APP, *, with_finalizer: bool = False, **fields: Any) -> Watch:
    finalizer = Finalizer(FINALIZER) if with_finalizer else None
    return Watch(gvk, Play(Path("roles/app"), is_role=True), finalizer=finalizer, **fields)


class ScriptedRun:
    """A `RunHandle` that plays one script."""

    def __init__(self, request: RunRequest, script: Script, on_over: Callable[[], None]) -> None:
        self._request = request
        self.is_frozen = False
        self._script = asyncio.ensure_future(script(request))
        self._script.add_done_callback(lambda _: on_over())

    async def result(self) -> RunResult:
        try:
            result = await self._script
        except asyncio.CancelledError:
            if not self._script.cancelled():
                self._script.cancel()
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            result = RunResult("", Ending.CANCELLED, None, reason_text="cancelled")
        return replace(result or GOOD, run_id=self._request.run_id)

    async def result_before_tidying(self) -> RunResult:
        return await self.result()

    def cancel(self, reason: str) -> None:
        self._script.cancel()

    def freeze(self) -> None:
        self.is_frozen = True


@dataclass
class ScriptedRunner:
    """A `Runner`: plays the scripted scripts in order, the last one for ever."""

    scripts: list[Script] = field(default_factory=list)
    requests: list[RunRequest] = field(default_factory=list)
    runs: list[ScriptedRun] = field(default_factory=list)
    in_flight: list[str] = field(default_factory=list)  # names of CRs
    doubled: list[str] = field(default_factory=list)  # CRs that had two runs at once
    on_event: dict[str, OnEvent] = field(default_factory=dict)  # of each CR's last run

    def will(self, *results: RunResult | Script) -> None:
        """Script the next runs."""
        self.scripts = [_script_of(result) for result in results]

    async def start(self, request: RunRequest, on_event: OnEvent) -> ScriptedRun:
        name = request.cr["metadata"]["name"]
        self.requests.append(request)
        if name in self.in_flight:
            self.doubled.append(name)
        self.in_flight.append(name)

        def report(event: RunEvent) -> None:
            request.note_event(event)
            on_event(event)

        self.on_event[name] = report
        report(RunEvent("playbook_on_start", 1, "", "", {}))
        number = min(len(self.requests), len(self.scripts)) - 1
        script = self.scripts[number] if self.scripts else _script_of(GOOD)
        self.runs.append(ScriptedRun(request, script, lambda: self.in_flight.remove(name)))
        return self.runs[-1]

    def begins(self, task: str, place: str = "roles/web/tasks/main.yml:12", cr: str = "a") -> None:
        """Let the run of a CR begin a task."""
        self.on_event[cr](RunEvent("playbook_on_task_start", 2, "", "", {"task": task}, place))

    def speaks(self, cr: str = "a") -> None:
        """Let the run of a CR say anything."""
        self.on_event[cr](RunEvent("runner_retry", 3, "", "", {}))

    async def close(self) -> None:
        """Nothing is kept."""


def _script_of(result: RunResult | Script) -> Script:
    if not isinstance(result, RunResult):
        return result

    async def script(_: RunRequest) -> RunResult:
        return result

    return script


@dataclass
class ScriptedAccess:
    """An `AccessIssuer`: knows which leases are live."""

    live: list[str] = field(default_factory=list)
    error: Exception | None = None

    @asynccontextmanager
    async def issue_access(self, run_id: str, cr: Json, watch: Watch) -> AsyncIterator[RunAccess]:
        if self.error is not None:
            raise self.error
        self.live.append(run_id)
        try:
            yield RunAccess(Path(f"/kubeconfigs/{run_id}"))
        finally:
            self.live.remove(run_id)


@dataclass
class RecordedEvents:
    """An `EventRecorder`: records its calls."""

    reported: list[tuple[str, str, str]] = field(default_factory=list)

    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        assert cr["metadata"]["name"]
        assert kind in {"Normal", "Warning"}
        self.reported.append((kind, reason, message))

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason, _ in self.reported]


@dataclass
class RecordedTelemetry:
    """A `Telemetry`: records its calls."""

    turns: list[str] = field(default_factory=list)
    runs: list[bool] = field(default_factory=list)
    ways: list[tuple[str, float]] = field(default_factory=list)  # of runs, and their seconds
    phases: list[str] = field(default_factory=list)
    tasks: Counter[str] = field(default_factory=Counter)
    reported: dict[Key, dict[str, str]] = field(default_factory=dict)
    drift: dict[Key, int] = field(default_factory=dict)

    def reconcile_finished(self, gvk: Gvk, result: str, seconds: float) -> None:
        self.turns.append(result)

    def tasks_ran(self, way: str, count: int) -> None:
        self.tasks[way] += count

    def run_finished(self, gvk: Gvk, *, succeeded: bool, seconds: float, way: str) -> None:
        assert isinstance(gvk, Gvk)
        self.runs.append(succeeded)
        self.ways.append((way, seconds))

    def phase(self, gvk: Gvk, phase: str, seconds: float) -> None:
        assert isinstance(gvk, Gvk)
        self.phases.append(phase)

    def conditions(self, key: Key, conditions: Iterable[Any]) -> None:
        self.reported[key] = {each["type"]: each["status"] for each in conditions}


@dataclass
class RecordedPlays:
    """A `PlayLog`: records its calls."""

    events: list[tuple[str, int]] = field(default_factory=list)
    recaps: list[tuple[Key, RunResult]] = field(default_factory=list)

    def event(self, key: Key, run_id: str, event: RunEvent, verbosity: int) -> None:
        assert isinstance(key, Key)
        assert run_id
        self.events.append((event.name, verbosity))

    async def recap(self, key: Key, result: RunResult) -> None:
        self.recaps.append((key, result))
