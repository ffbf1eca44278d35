"""Plans a run of a CR in its engine, as the operator would begin one now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rolecall.errors import InputError
from rolecall.extending import EngineView
from rolecall.gvk import Gvk
from rolecall.plan import PlannedRun, Planner, PlanRequest
from rolecall.reconcile import is_deleted, is_finalizer_run, random_run_id, with_spec
from rolecall.watches import Watch
from rolecall.workqueue import Key

_FOLDER = ".plans"  # no CR's: runs are looked for by group, and no group begins so


class CrPlanner:
    """The `MakePlan` of an engine."""

    def __init__(self, engine: EngineView) -> None:
        self._client = engine.client
        self._watches: Mapping[Gvk, Watch] = {watch.gvk: watch for watch in engine.watches}
        self._root: Path = engine.settings.runner.root
        self._planner = Planner(
            engine.runner,
            engine.issue_access_to_world,
            engine.client,
            engine.clock,
            engine.foresee,
            engine.spec_keys,
        )

    async def __call__(self, key: Key, place: int) -> PlannedRun:
        """`place`: the folder, of which each belongs to one plan at a time."""
        watch = self._watches[key.gvk]
        if watch.play is None:
            raise InputError(f"{key.gvk.kind} has no role that a plan could run")
        cr = with_spec(await self._client.get(key.gvk, key.namespace, key.name))
        is_finalizer = is_finalizer_run(watch, cr)
        if is_deleted(cr) and not is_finalizer:
            raise InputError(f"{key} is being deleted, and its deletion needs no run")
        request = PlanRequest(
            random_run_id(),
            cr,
            watch,
            is_finalizer,
            verbosity=watch.verbosity,
            keep_artifacts=1,
            folder=self._root / _FOLDER / str(place),
        )
        return await self._planner.plan(request)
