"""Whether backups come as planned, as a condition of the EtcdCluster."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

Json = dict[str, Any]
# One that began so long ago and has not succeeded is stuck, or slower than somebody would expect.
OVERDUE_S = 3600.0


def etcdcluster_backed_up(schedules: list[Json], told: Json, now: float) -> list[Json]:
    """The condition `BackedUp`, as a list: empty where no backup was ever asked for.

    The schedule itself knows when it began one last, and when one succeeded. So nothing reads cron,
    and a backup that cannot even start is seen, too.
    """
    last = told.get("lastBackup") or {}
    good = (told.get("lastGoodBackup") or {}).get("snapshot", "")
    if not schedules:
        return [_row("Unknown", "NotPlanned", "no backups are planned")] if last else []
    if last.get("result") == "Failed":
        return [_row("False", "BackupFailed", str(last.get("message", "")))]
    status = schedules[0].get("status") or {}
    began, succeeded = (
        _epoch(status.get("lastScheduleTime")),
        _epoch(status.get("lastSuccessfulTime")),
    )
    if began > succeeded and now - began > OVERDUE_S:
        words = f"the backup of {status['lastScheduleTime']} has not succeeded within an hour"
        return [_row("False", "BackupOverdue", words)]
    if good:
        return [_row("True", "BackedUp", f"`{good}` is the last good one")]
    return [_row("Unknown", "NotYet", "no backup was due yet")]


def _row(status: str, reason: str, message: str) -> Json:
    return {"type": "BackedUp", "status": status, "reason": reason, "message": message}


def _epoch(moment: Any) -> float:
    """Seconds since 1970; 0 for a moment that never was."""
    return datetime.fromisoformat(str(moment)).timestamp() if moment else 0.0


class FilterModule:
    """How Ansible finds the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Names and functions."""
        return {"etcdcluster_backed_up": etcdcluster_backed_up}
