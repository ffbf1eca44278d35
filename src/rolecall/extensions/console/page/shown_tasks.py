"""The tasks of a run, from its event files: one source for runs in flight and for ended runs.

Numbers are the counters of ansible-runner, which are in the file names: a client that has all events up
to one asks for the events after it. A run of five thousand tasks has some fifteen thousand files. They
are read in slices, in a thread, and we keep only a few facts of each; the arguments and the result of a
task are read on request.

Files are masked already where they are written. Everything in them is hostile all the same, and may
be of any type.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rolecall.extensions.console.markup import shortened
from rolecall.json_object import Json, from_json

_STARTS = frozenset({"playbook_on_task_start", "playbook_on_handler_task_start"})
_ENDS = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_skipped": "skipped",
    "runner_on_unreachable": "unreachable",
    "runner_on_async_failed": "failed",
}
_COUNTER = re.compile("[0-9]{1,15}")
_WORST = ("failed", "unreachable", "ignored", "changed", "ok", "skipped", "")
_LARGEST_FILE = 8_000_000
_MOST_RUNS = 4
_MOST_TASKS = 20_000
_MOST_TRIES = 500  # of one task
_MOST_HOSTS = 20  # of one task that are shown
_LONGEST_NAME = 500
_LONGEST_S = 1e9  # what is longer was not measured
MOST_TEXT = 200_000


@dataclass(slots=True)
class ShownTask:
    """One task, as far as it has come. Thousands are kept: tuples, since the garbage collector looks at
    each list, and holds the event loop meanwhile.
    """

    counter: int  # of its beginning
    name: str
    path: str  # `/…/tasks/main.yml:12`
    action: str
    outcome: str = ""  # empty: it runs, or the run ended in it
    seconds: float = 0.0
    hosts: int = 0
    items: int = 0
    message: str = ""  # of a failure
    uuid: str = ""
    ends: tuple[int, ...] = ()  # counters of the events with its result, of the first hosts
    at: float | None = None  # its beginning, in seconds; None: the event has no time
    ended_at: float | None = None
    tries: tuple[float, ...] = ()  # when an attempt of `until` failed
    polls: bool = False  # it was given `wait: true`


@dataclass(slots=True)
class ShownTasks:
    """What is known of one run's tasks up to `counter`; one at a time reads on."""

    folder: Path
    counter: int = 0
    tasks: list[ShownTask] = field(default_factory=list)
    is_cut: bool = False  # there were more
    is_whole: bool = False  # its run was over before all of it was read
    _left: deque[str] = field(default_factory=deque)  # names of files to be read
    _by_uuid: dict[str, ShownTask] = field(default_factory=dict)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def read(self, most: int = 2000) -> bool:
        """Read on, at most so many events; whether there may be more. In a thread.

        Files come whole: one that cannot be read says nothing, now and later.
        """
        with self._reading:
            if not self._left:
                after = self.counter.__lt__
                self._left = deque(sorted(_names(self.folder / "job_events", after), key=_counter))
            for _ in range(min(most, len(self._left))):
                name = self._left.popleft()
                self.counter = number = _counter(name)
                self._take(number, _read(self.folder / "job_events" / name))
            return bool(self._left)

    def _take(self, number: int, event: Json) -> None:
        data = event.get("event_data")
        data = data if isinstance(data, dict) else {}
        kind, uuid = _text(event.get("event")), _text(data.get("task_uuid"))[:_LONGEST_NAME]
        if kind in _STARTS:
            if len(self.tasks) >= _MOST_TASKS:
                self.is_cut = True
                return
            task = ShownTask(
                number,
                _kept(_text(data.get("task")) or _text(data.get("name"))),
                _kept(_place(self.folder, _text(data.get("task_path")))),
                _kept(_text(data.get("resolved_action")) or _text(data.get("task_action"))),
                uuid=uuid,
                at=_seconds(event.get("created")),
            )
            self.tasks.append(task)
            self._by_uuid[uuid] = task
        elif (known := self._by_uuid.get(uuid)) is not None:
            if kind.startswith("runner_item_on_"):
                known.items += 1
            elif kind == "runner_retry" and len(known.tries) < _MOST_TRIES:
                known.tries += (at,) if (at := _seconds(event.get("created"))) is not None else ()
            elif kind in _ENDS:
                known.ended_at = _seconds(event.get("created"))
                _end(known, number, _ENDS[kind], data)


class RunsRead:
    """The runs that were looked at last, so that a reader who stays is not read for anew."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Path, ShownTasks] = OrderedDict()

    def of(self, folder: Path) -> ShownTasks:
        run = self._runs.setdefault(folder, ShownTasks(folder))
        self._runs.move_to_end(folder)
        while len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)
        return run


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """What a task was given and said, on one host."""

    host: str
    outcome: str
    arguments: str
    result: str
    stdout: str


def _kept(text: str) -> str:
    """Once for all tasks that have it: runs of one role, and tasks of one module, are alike."""
    return sys.intern(text[:_LONGEST_NAME])


def _place(artifacts: Path, path: str) -> str:
    """Empty for the play that the engine wrote for the run: it has no file that a user can open."""
    return "" if path.rpartition(":")[0].endswith(f"/project/{artifacts.name}") else path


def ends_of(task: ShownTask, folder: Path) -> Iterator[TaskEnd]:
    """Read what a task came to; in a thread."""
    wanted, events = frozenset(task.ends), folder / "job_events"
    # One look at the names, of which none is kept: `glob` makes a list of all of them, for each end.
    for name in sorted(_names(events, wanted.__contains__), key=_counter):
        event = _read(events / name)
        data = event.get("event_data")
        if not isinstance(data, dict):
            continue
        result = data.get("res")
        result = dict(result) if isinstance(result, dict) else {}
        invocation = result.pop("invocation", None)
        given = invocation.get("module_args") if isinstance(invocation, dict) else None
        yield TaskEnd(
            _text(data.get("host")),
            _ENDS.get(_text(event.get("event")), ""),
            _pretty(given) if given else _text(data.get("task_args")),
            _pretty(result),
            shortened(_text(event.get("stdout")), MOST_TEXT),
        )
    if (more := task.hosts - _MOST_HOSTS) > 0:
        yield TaskEnd(f"and {more:,} hosts more", "", "", "", "")


def beginning_of(path: Path, most: int) -> str:
    """Of a file that may be long; in a thread."""
    try:
        with path.open("rb") as file:
            data, size = file.read(most), os.fstat(file.fileno()).st_size
    except OSError:
        return "nothing was printed, or it is kept no more"
    text = data.decode(errors="replace")
    return text if size <= most else f"{text}\n… and {size - most:,} bytes more"


def _end(task: ShownTask, number: int, outcome: str, data: Mapping[str, Any]) -> None:
    result = data.get("res")
    result = result if isinstance(result, dict) else {}
    if outcome == "ok" and result.get("changed") is True:
        outcome = "changed"
    if outcome == "failed":
        task.message = _text(result.get("msg"))[:2000]
        if data.get("ignore_errors") is True:
            outcome = "ignored"
    task.outcome = min(task.outcome, outcome, key=_WORST.index) if task.outcome else outcome
    seconds = data.get("duration")
    if isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_S:
        task.seconds = max(task.seconds, float(seconds))
    invocation = result.get("invocation")
    given = invocation.get("module_args") if isinstance(invocation, dict) else None
    task.polls = task.polls or (isinstance(given, dict) and given.get("wait") is True)
    task.hosts += 1
    if len(task.ends) < _MOST_HOSTS:
        task.ends += (number,)


def _names(folder: Path, is_wanted: Callable[[int], bool]) -> Iterator[str]:
    """Of whole event files, by their counter."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            number, mark, rest = entry.name.partition("-")
            is_whole = bool(mark) and rest.endswith(".json") and "partial" not in rest
            if is_whole and _COUNTER.fullmatch(number) and is_wanted(int(number)):
                yield entry.name


def _counter(name: str) -> int:
    return int(name.partition("-")[0])


def _read(path: Path) -> Json:
    try:
        with path.open("rb") as file:
            # A buffer is as large as what may be read, and there are thousands of files.
            size = os.fstat(file.fileno()).st_size
            read = from_json(file.read(min(size, _LARGEST_FILE)))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _pretty(value: Any) -> str:
    return shortened(json.dumps(value, indent=2, ensure_ascii=False, default=str), MOST_TEXT)


def _seconds(created: object) -> float | None:
    """ansible-runner's time of day, in UTC."""
    try:
        at = datetime.fromisoformat(_text(created))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
