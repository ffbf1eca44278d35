"""Forks, a few at a time: each does one job and answers, or is ended.

A fork is what makes a mutant cheap: pytest, the engine and the tests are loaded already, and whatever
the mutant breaks is gone with its process. Each has folders of its own for temporary files, since tests
look at what is left in there, and a process group of its own, so that nothing that it starts stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import tempfile
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")

# A mutant that collects without end fails before it hurts the machine.
MORE_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Answer:
    """What a child said, or the signal that ended it before it had said anything."""

    said: Any = None
    signal: int | None = None


@dataclass
class _Child(Generic[Job]):
    job: Job
    folder: Path


def in_forks(
    jobs: Iterable[Job], work: Callable[[Job], Any], at_once: int = 1
) -> Iterator[tuple[Job, Answer]]:
    """Each job with its answer, in the order in which they end."""
    left = deque(jobs)
    running: dict[int, _Child[Job]] = {}
    outside = tempfile.gettempdir()
    try:
        while left or running:
            while left and len(running) < at_once:
                child = _Child(left.popleft(), Path(tempfile.mkdtemp(prefix="m-", dir=outside)))
                running[_fork(child, work)] = child
            pid, status = os.wait()
            if pid in running:
                child = running.pop(pid)
                answer = _answer(child.folder, status)
                _clear(pid, child.folder)
                yield child.job, answer
    finally:
        for pid, child in running.items():
            _clear(pid, child.folder)


def _fork(child: _Child[Job], work: Callable[[Job], Any]) -> int:
    if pid := os.fork():
        with contextlib.suppress(OSError):  # the child may have done it, and may be gone
            os.setpgid(pid, pid)
        return pid
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _settle(child.folder)
        said = work(child.job)
        (child.folder / "answer").write_text(json.dumps(said))
    except BaseException:
        (child.folder / "error").write_text(traceback.format_exc())
    finally:
        os._exit(0)


def _settle(folder: Path) -> None:
    """Temporary files go to this folder, and memory has an end."""
    scratch, kept = folder / "t", folder / "p"
    scratch.mkdir()
    kept.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(kept)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_MEMORY_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _answer(folder: Path, status: int) -> Answer:
    if os.WIFSIGNALED(status):
        return Answer(signal=os.WTERMSIG(status))
    if (error := folder / "error").exists():
        raise RuntimeError(f"a child of the mutants ended in an error:\n{error.read_text()}")
    with contextlib.suppress(FileNotFoundError):
        return Answer(json.loads((folder / "answer").read_text()))
    return Answer(signal=0)  # the mutant had the process end at once


def _clear(pid: int, folder: Path) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)
