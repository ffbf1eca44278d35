"""Why what a run did not touch may be wanted all the same, so that nothing is pruned after it."""

from __future__ import annotations

import asyncio

from rolecall.extensions.prune.lenient_lookups import lenient_lookup_in
from rolecall.extensions.prune.ports import FinishedRun
from rolecall.record import RunRecord, TouchedByRun

_FAILED_TASKS = frozenset({"failed", "unreachable"})


def why_held(run: FinishedRun, touched: TouchedByRun, partial: str) -> str:
    """The reason; empty: the run wanted what it touched, and nothing else."""
    result, record = run.result, run.findings.of(RunRecord)
    if not result.succeeded:
        return "the run failed"
    if partial:
        return f"`{partial}` makes runs do a part of what they do"
    if result.cut_short:
        return result.cut_short
    if record is not None and any(task.outcome in _FAILED_TASKS for task in record.tasks):
        return "a task failed"
    if result.requeue_after_s is not None:
        return "the run asked to come back, so it was not at its end"
    return touched.unknown


async def why_play_holds(run: FinishedRun) -> str:
    """The same of its play, whatever the run came to."""
    found = await asyncio.to_thread(lenient_lookup_in, run.watch.play)
    return f"{found}: a lookup with `errors` takes a failure for an empty answer" if found else ""
