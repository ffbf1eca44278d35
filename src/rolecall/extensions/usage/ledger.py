"""The ledger of usage: files by day in the folder of runs, to which lines are only ever added.

Promises: added lines survive a restart, and the removal of the runs' artifacts; a reader sees each run
once at any moment; two replicas may share the folder, and so may clusters, whose runs are counted
separately. It is bounded: a file that grew is folded to one line for each CR and hour, later to one for
each CR and day, and the oldest files are deleted. Rejected: adding up `run.json` on request. Most runs
have none any more: three are kept for each CR.

Blocking: call it off the loop.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from rolecall.extensions.usage.model import CrOfRuns, LedgerLine, Usage, line_of

# Hidden, as nothing in it is a CR's.
USAGE_FOLDER = ".usage"
# A report of a month is possible on its last day, and for some days after it.
MOST_DAYS = 40
_MOST_BYTES = 64_000_000
# A file is folded when so much came to it since the last time, and as much as it had then.
_FOLD_BYTES = 1_000_000
# Above this a line for each CR and hour is too much, and days must do.
_MOST_BYTES_BY_HOUR = 8_000_000
_LOCK = ".lock"
_HOURS_OF_DAY = 24


class UsageLedger:
    """The writer's side, for runs on the cluster of this API server."""

    def __init__(self, root: Path, server: str = "") -> None:
        self._folder, self._server = root / USAGE_FOLDER, server
        self._folded_bytes = 0  # of today's file, as we last left it
        self._day: date | None = None

    def add(self, used: Sequence[tuple[CrOfRuns, Usage]], now: datetime) -> None:
        """Add what runs used that ended just now; raises `OSError`."""
        hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        lines = [LedgerLine(hour, 1, cr, each, self._server) for cr, each in used]
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._folder):
            if hour.date() != self._day:
                self._begin_day(hour.date())
            path = _file_of(self._folder, hour.date())
            descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "ab") as file:
                file.write("".join(line.written() for line in lines).encode())
            size = path.stat().st_size
            if size > self._folded_bytes + max(_FOLD_BYTES, self._folded_bytes):
                self._folded_bytes = _fold(path)

    def _begin_day(self, today: date) -> None:
        """Fold what is over, and let go of what is too old or too much."""
        self._day, self._folded_bytes = today, 0
        files = sorted(_files(self._folder), reverse=True)
        left = _MOST_BYTES
        for day, path in files:
            if (today - day).days > 1:  # a report of yesterday may still be by the hour
                _fold(path, by_day=True)
            left -= path.stat().st_size
            if day != today and (left < 0 or (today - day).days >= MOST_DAYS):
                path.unlink(missing_ok=True)


def read_usage(
    root: Path, since: datetime, server: str | None = None
) -> tuple[dict[CrOfRuns, Usage], datetime | None]:
    """What was used since then, by CR, and from when that really counts; None: from nowhere.

    An hour or a day that began before counts whole. With `server`, runs on other clusters do not count.
    """
    sums: dict[CrOfRuns, Usage] = {}
    began: datetime | None = None
    for day, path in sorted(_files(root / USAGE_FOLDER)):
        if day < since.astimezone(UTC).date():
            continue
        for line in _lines(path):
            is_meant = server is None or line.server in ("", server)
            if is_meant and line.at + timedelta(hours=line.hours) > since:
                sums[line.cr] = sums.get(line.cr, Usage()) + line.used
                began = line.at if began is None else min(began, line.at)
    return sums, began


def _fold(path: Path, *, by_day: bool = False) -> int:
    """Write the file anew with one line for each CR and hour, or day; returns its size."""
    folded = _folded(_lines(path), by_day=by_day)
    if not by_day and len(folded) > _MOST_BYTES_BY_HOUR:
        folded = _folded(_lines(path), by_day=True)
    fresh = path.with_name(f".{path.name}.tmp")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(folded)
    fresh.replace(path)
    return len(folded)


def _folded(lines: Iterable[LedgerLine], *, by_day: bool) -> bytes:
    sums: dict[tuple[datetime, str, CrOfRuns], LedgerLine] = {}
    for each in lines:
        at = each.at.replace(hour=0) if by_day else each.at
        hours = _HOURS_OF_DAY if by_day else each.hours
        used = each.used
        place = (at, each.server, each.cr)
        if (known := sums.get(place)) is not None:
            used, hours = known.used + used, max(known.hours, hours)
        sums[place] = replace(each, at=at, hours=hours, used=used)
    return "".join(line.written() for line in sums.values()).encode()


def _lines(path: Path) -> Iterator[LedgerLine]:
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for text in file:
            if (line := line_of(text)) is not None:
                yield line


def _files(folder: Path) -> list[tuple[date, Path]]:
    found = []
    for path in folder.glob("*.jsonl"):
        if path.is_symlink():
            continue  # none of ours
        with contextlib.suppress(ValueError):
            found.append((date.fromisoformat(path.stem), path))
    return found


def _file_of(folder: Path, day: date) -> Path:
    return folder / f"{day.isoformat()}.jsonl"


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone among those who write; where the file system knows no locks, alone enough."""
    descriptor = os.open(
        folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
