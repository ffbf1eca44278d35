"""Runs a play in a world of its own and says what it would have done.

The play is the CR's own, as the engine would run it now, warm. It never acts outside of the API
(`rolecall_warm.hooks.planned`), and what it asks the API server for is answered by a `PlanWorld`. What
is reported afterwards comes from three places: the overlay (which objects), the run's notes (which task
made which request, by time), and the notes of the run child (what was left out).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rolecall.clock import Clock
from rolecall.extending import Foresee, IssueWorldAccess, foresee_nothing
from rolecall.json_object import Json
from rolecall.plan.model import PlannedRun, PlanNote, TaskPlace
from rolecall.plan.overlay import ObjectIdentity, versioned
from rolecall.plan.plan_text import LeftOut, foreseen_of_plan, objects_of_plan, refused_notes
from rolecall.plan.ports import KindFinder
from rolecall.plan.world import PlanWorld
from rolecall.reconcile import AllKeys, EndedRun, RunFindings, SpecKeyFilter
from rolecall.record import RunRecord
from rolecall.runner import (
    Ending,
    Redactor,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
    folder_of_command,
    terms_of,
)
from rolecall.watches import Watch
from rolecall.workqueue import Key

# Nothing waits in a plan, so one that takes longer is stuck.
PLAN_TIMEOUT_S = 300.0
_NO_NAMESPACE = "default"
_NOTES_FILE = "left-out.jsonl"


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """One plan of one CR."""

    run_id: str
    cr: Json  # as the play shall see it
    watch: Watch
    is_finalizer: bool = False
    # The CR is not in the cluster as it is here: the play reads it from the plan's world.
    is_supposed: bool = False
    verbosity: int = 0
    keep_artifacts: int = 0
    timeout_s: float = PLAN_TIMEOUT_S
    # Its private folder, below the root; None: the CR's, where one run goes at a time.
    folder: Path | None = None
    on_start: Callable[[RunHandle], None] = lambda _: None  # given what ends it early


class Planner:
    def __init__(
        self,
        runner: Runner,
        issue_access: IssueWorldAccess,
        kinds: KindFinder,
        clock: Clock,
        foresee: Foresee = foresee_nothing,
        spec_keys: SpecKeyFilter | None = None,
    ) -> None:
        self._runner = runner
        self._issue_access = issue_access
        self._kinds = kinds
        self._clock = clock
        self._foresee = foresee
        self._spec_keys = spec_keys or AllKeys()

    async def plan(self, request: PlanRequest) -> PlannedRun:
        """Plan a run of a CR; a play that fails is a plan that says so."""
        began_s = self._clock.monotonic()
        watch = replace(request.watch, runner=None)
        metadata = request.cr["metadata"]
        world = PlanWorld(metadata.get("namespace") or _NO_NAMESPACE)
        if request.is_supposed:
            request = replace(request, cr=versioned(request.cr))
            await self._suppose(world, request)
        with folder_of_command() as folder:
            issued = self._issue_access(request.run_id, request.cr, watch, world)
            async with issued as access:
                redactor = Redactor.for_run(request.cr, access.kubeconfig)
                followed, left_out = access.followed, folder / _NOTES_FILE

                run = RunRequest(
                    run_id=request.run_id,
                    terms=terms_of(watch, is_finalizer=request.is_finalizer),
                    cr=request.cr,
                    is_finalizer=request.is_finalizer,
                    kubeconfig=access.kubeconfig,
                    cause="plan",
                    missing_right=access.missing_right,
                    seen_secrets=access.seen_secrets,
                    verbosity=request.verbosity,
                    keep_artifacts=request.keep_artifacts,
                    timeout_s=request.timeout_s,
                    withheld=await self._withheld(request),
                    note_event=followed.event,
                    folder=request.folder,
                    plan_notes=left_out,
                )
                handle = await self._runner.start(run, lambda _: None)
                request.on_start(handle)
                result = await handle.result_before_tidying()
            left = _left_out_in(left_out)
        findings = RunFindings(followed)
        record = findings.of(RunRecord)
        for secret in world.secrets:
            redactor.learn(secret)
        about = ObjectIdentity(
            watch.gvk.group, "", metadata.get("namespace") or "", metadata["name"]
        )
        unknown = refused_notes(world, record)
        objects = objects_of_plan(world, record, left, (watch.gvk, about), redactor.value)
        key = Key(watch.gvk, about.namespace, about.name)
        ended = EndedRun(key, watch, request.cr, request.cr, request.is_finalizer, result, findings)
        foreseen = await self._foresee(ended)
        objects += foreseen_of_plan(foreseen, world, record, left, redactor.value)
        if foreseen.unknown:
            unknown.append(PlanNote("not shown", foreseen.unknown, TaskPlace()))
        return PlannedRun(
            watch.gvk.kind,
            about.namespace,
            about.name,
            objects=tuple(objects),
            notes=(*(_note_of(each, redactor.text) for each in left), *unknown),
            failure=_failure_of(result),
            seconds=self._clock.monotonic() - began_s,
        )

    async def _withheld(self, request: PlanRequest) -> frozenset[str]:
        found = await self._spec_keys.withheld(
            request.watch, request.cr, is_finalizer=request.is_finalizer
        )
        return found.keys

    async def _suppose(self, world: PlanWorld, request: PlanRequest) -> None:
        gvk, metadata = request.watch.gvk, request.cr["metadata"]
        resource = await self._kinds.resource_for(gvk)
        namespace = metadata.get("namespace") or "" if resource.namespaced else ""
        identity = ObjectIdentity(gvk.group, resource.plural, namespace, metadata["name"])
        world.take_as_there(identity, gvk.version, request.cr)


def _left_out_in(file: Path) -> list[LeftOut]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found: list[LeftOut] = []
    for line in lines:
        said: dict[str, Any] = json.loads(line)
        at = TaskPlace(said["task"], _in_project(said["place"]))
        found.append(
            LeftOut(said["kind"], said["what"], at, said["at_s"], bool(said["is_registered"]))
        )
    return found


def _in_project(place: str) -> str:
    """`roles/web/tasks/main.yml:12`, as events have it, of an absolute path."""
    for folder in ("/roles/", "/playbooks/"):
        before, found, rest = place.rpartition(folder)
        if found:
            return f"{folder[1:]}{rest}" if before or found else place
    return place


def _note_of(left: LeftOut, hide: Callable[[str], str]) -> PlanNote:
    return PlanNote(left.kind, hide(left.what), left.at)


def _failure_of(result: RunResult) -> str:
    if result.succeeded:
        return ""
    if result.failures:
        first = result.failures[0]
        detail = f" ({first.detail})" if first.detail else ""
        at = str(TaskPlace(first.task, first.place))
        return f"{at} failed: {first.message}{detail}"
    if result.ending is Ending.TIMED_OUT:
        return f"the play took longer than a plan may: {result.reason_text}".rstrip(": ")
    return result.reason_text or f"the play came to no end ({result.ending.value})"
