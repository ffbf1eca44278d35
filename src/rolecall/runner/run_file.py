"""Keeps `run.json` beside a run's artifacts: what the room `history` reads.

Written by the recording when a run begins and when it has ended; here, for all that never came as far.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rolecall.history import FailedTask, KeptRun, read_run, this_process, write_run
from rolecall.runner.artifacts import Rotation, rotate
from rolecall.runner.contract import Ending, RunRequest, RunResult, TaskFailure
from rolecall.runner.folders import make_private, private_dir_of
from rolecall.settings import RunnerSettings


def run_that_begins(
    request: RunRequest, way: str, folder: Path, now: datetime, server: str
) -> KeptRun:
    metadata, gvk = request.cr.get("metadata") or {}, request.terms.gvk
    return KeptRun(
        run=request.run_id,
        kind=gvk.kind,
        api_version=gvk.api_version,
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata.get("name") or ""),
        uid=str(metadata.get("uid") or ""),
        generation=metadata.get("generation"),
        cause=request.cause,
        is_finalizer=request.is_finalizer,
        way=way,
        began=now,
        server=server,
        engine=this_process(),
        folder=folder,
    )


def run_that_ended(run: KeptRun, result: RunResult, now: datetime) -> KeptRun:
    failed = result.failures[0] if result.failures else None
    return replace(
        run,
        way=result.way,
        ended=now,
        outcome=outcome_of(result),
        ending=result.ending.value,
        seconds=round(result.seconds, 3),
        cpu_s=None if result.cpu_s is None else round(result.cpu_s, 3),
        changed_tasks=tuple(result.changed_tasks),
        failed_task=FailedTask(failed.task, failed.place, failed.message) if failed else None,
        reason=result.reason_text or (_reason_of(failed) if failed else ""),
    )


def _reason_of(failed: TaskFailure) -> str:
    """With its detail, which has the way out: the rule of a right that is missing, say."""
    return f"{failed.message}: {failed.detail}" if failed.detail else failed.message


def outcome_of(result: RunResult) -> str:
    """In one word, for logs and for people."""
    if result.succeeded:
        return "succeeded"
    return "cancelled" if result.ending is Ending.CANCELLED else "failed"


def keep_unrecorded(
    request: RunRequest, result: RunResult, settings: RunnerSettings, now: datetime
) -> None:
    """Say of a run that was never recorded, or not to its end, what became of it.

    Where that cannot be written, the CR's status says the same.
    """
    folder = private_dir_of(settings.root, request) / "artifacts"
    folder /= request.run_id
    with contextlib.suppress(OSError):
        make_private(settings.root, folder)
        begun = read_run(folder)
        if not begun.kind:  # there is no file yet
            begun = run_that_begins(request, result.way, folder, now, settings.server)
        write_run(run_that_ended(begun, result, now))
        limits = Rotation(request.keep_artifacts, settings.keep_days, settings.keep_bytes)
        rotate(folder.parent, request.run_id, limits, now.timestamp())
