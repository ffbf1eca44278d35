"""Files of roles and playbooks that a person mended: what failed in them is tried again at once.

Otherwise a mended role waits for a backoff that grew for as long as the role was broken. Promises: only
CRs whose last run failed are tried again, each once for a change; while none failed, no role is looked
at; a role that writes into its own folder while it runs is not tried for ever for it. A changed
watches.yaml is logged, and no more: it is read when an engine starts, as files of extensions are.

What counts is when a file changed, seen against the run that failed, so nothing has to be remembered of
the files. Rejected: inotify, which knows nothing of network volumes and wants a library.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.log_fields import log_fields
from rolecall.reconcile import Outcome
from rolecall.runner import BESIDE_A_PLAYBOOK
from rolecall.watches import Play, Watch
from rolecall.workqueue import Cause, Key, Turn

PAUSE_S = 2.0
_CAUSE = "changed file"
_MOST_FILES = 5000
_DEEPEST = 12
_TICK_S = 0.05  # a folder may be stamped later than what was just made in it

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    path: Path
    at: float
    is_folder: bool


class ChangedFiles:
    def __init__(
        self,
        watches: Mapping[Gvk, Watch],
        read_at_start: Mapping[str, Path],
        last_run: Callable[[Key], KeptRun | None],
        retry: Callable[[Key, Cause], None],
        clock: Clock,
    ) -> None:
        self._watches = watches
        self._last_run = last_run
        self._retry = retry
        self._clock = clock
        self._failed: set[Key] = set()
        self._read_at_start = read_at_start
        self._stamps = {what: _stamp_of(file) for what, file in read_at_start.items()}

    def turn_over(self, turn: Turn, outcome: Outcome) -> None:
        """A turn ended: its run failed, or what failed before is past."""
        if outcome.is_error and outcome.ran:
            self._failed.add(turn.key)
        elif outcome.ran or outcome.forget:
            self._failed.discard(turn.key)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._clock.sleep(PAUSE_S)
            await self.look()

    async def look(self) -> None:
        """Look once."""
        self._warn_about_files_read_at_start()
        if not self._failed:
            return
        found = await asyncio.to_thread(self._changed, tuple(self._failed))
        for file in dict.fromkeys(found.values()):
            keys = [key for key, its in found.items() if its == file and key in self._failed]
            for key in keys:
                self._failed.discard(key)  # until its next run fails, too
                self._retry(key, Cause(f"{_CAUSE} {file}"))
            if keys:
                _logger.info(
                    "changed file, so what failed is tried again",
                    extra=log_fields(file=file, count=len(keys)),
                )

    def _warn_about_files_read_at_start(self) -> None:
        for what, file in self._read_at_start.items():
            stamp = _stamp_of(file)
            if stamp not in (None, self._stamps[what]):
                self._stamps[what] = stamp
                _logger.warning(
                    "%s changed; restart to take it", what, extra=log_fields(file=str(file))
                )

    def _changed(self, keys: tuple[Key, ...]) -> dict[Key, str]:
        """For each key that a changed file concerns, the file. Blocking."""
        looked: dict[Path, list[_Change]] = {}
        found: dict[Key, str] = {}
        for key in keys:
            run = self._last_run(key)
            since = _since(run) if run else None
            if run is None or since is None:
                continue
            newest: _Change | None = None
            for place in _places(self._watches[key.gvk], run):
                if place not in looked:
                    looked[place] = list(_changes_below(place))
                newest = _newest([newest, *(each for each in looked[place] if each.at > since)])
            if newest is not None:
                found[key] = _short(newest.path)
        return found


def _since(run: KeptRun) -> float | None:
    """From when on a change may mend a run; a file that changed in mid-run counts once.

    The second run that is due to one would be due to the role's own writing.
    """
    at: datetime | None = run.ended if run.cause.startswith(_CAUSE) else run.began
    return at.timestamp() if at else None


def _places(watch: Watch, run: KeptRun) -> Iterator[Path]:
    """Files and folders that a run of this watch came from, as far as one may know."""
    for play in watch.cr_plays:
        yield from _places_of(play)
    if run.failed_task and run.failed_task.place:
        file = Path(run.failed_task.place.rpartition(":")[0]).absolute()
        yield file.parent.parent if file.parent.name in ("tasks", "handlers") else file


def _places_of(play: Play) -> Iterator[Path]:
    yield play.path
    if not play.is_role:
        for name in BESIDE_A_PLAYBOOK:
            yield play.path.parent / name


def _changes_below(place: Path) -> Iterator[_Change]:
    """When each file and folder changed last, by its content or its name."""
    pending, seen = [(place, 0)], 0
    while pending and seen < _MOST_FILES:
        path, depth = pending.pop()
        seen += 1
        with contextlib.suppress(OSError):
            is_folder = path.is_dir()
            found = path.stat()
            if not is_folder:
                yield _Change(path, max(found.st_mtime, found.st_ctime), is_folder=False)
                continue
            names, left_at = _content_of(path)
            if found.st_mtime > left_at + _TICK_S:
                yield _Change(path, found.st_mtime, is_folder=True)
            if depth < _DEEPEST:
                pending += [(path / name, depth + 1) for name in names]


def _content_of(folder: Path) -> tuple[list[str], float]:
    """The names that count, and when something last changed that does not, such as `__pycache__`.

    That it came changed the folder, too; where it is the last that came, nothing of the role did.
    """
    names, left_at = [], 0.0
    with os.scandir(folder) as entries:
        for entry in entries:
            if _counts(entry.name):
                names.append(entry.name)
            else:
                found = entry.stat(follow_symlinks=False)
                left_at = max(left_at, found.st_mtime, found.st_ctime)
    return names, left_at


def _counts(name: str) -> bool:
    """Not what editors and Python leave."""
    return not name.startswith(".") and not name.endswith(("~", ".pyc")) and name != "__pycache__"


def _newest(changes: list[_Change | None]) -> _Change | None:
    """Prefer a file to a folder, which shows only that something was added or removed in it."""
    real = [change for change in changes if change is not None]
    return max(real, key=lambda change: (not change.is_folder, change.at), default=None)


def _short(path: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
