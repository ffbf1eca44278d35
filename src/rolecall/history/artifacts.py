"""A run by its folder: from `run.json`, or from the files of ansible-runner where there is none.

Runs of earlier releases, and of the Go operator, have only those: `command` is written when a run
begins, `rc` and `status` when it has ended.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rolecall.history.processes import is_gone
from rolecall.history.run import LOST, LOST_REASON, RUN_FILE, KeptRun, read_file

# ansible-runner's words, and ours: outcome and ending.
_ENDINGS = {
    "successful": ("succeeded", "Finished"),
    "failed": ("failed", ""),
    "timeout": ("failed", "TimedOut"),
    "canceled": ("cancelled", "Cancelled"),
}


def has_begun(folder: Path) -> bool:
    """Whether its play was going to start: until then, a run has a folder with nothing in it."""
    return any((folder / name).exists() for name in (RUN_FILE, "command", "status"))


def read_run(folder: Path) -> KeptRun:
    """Whatever is known of the run in this folder; never fails."""
    run = read_file(folder) or _without_file(folder)
    if run.outcome == "running" and is_gone(run.engine):
        return as_lost(run)
    return run


def as_lost(run: KeptRun) -> KeptRun:
    """The same run, marked as lost: its end will never be recorded."""
    return replace(run, outcome=LOST, reason=LOST_REASON)


def _without_file(folder: Path) -> KeptRun:
    began, ended = _changed_at(folder / "command"), _changed_at(folder / "status")
    began_at_all = began or ended or _changed_at(folder)
    run = KeptRun(folder.name, began=began_at_all, folder=folder, has_file=False)
    outcome, ending = _ENDINGS.get(_text(folder / "status"), ("", ""))
    if not outcome:
        return as_lost(run)
    seconds = (ended - began).total_seconds() if began and ended else None
    return replace(run, outcome=outcome, ending=ending, ended=ended, seconds=seconds)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1000).strip()
    except OSError:
        return ""


def _changed_at(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
