"""What processes were started with, as the kernel tells it: the marks by which we know ours."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

# Names a run's temporary folder to whoever ends the run; nothing of Ansible's reads it.
SCRATCH_VARIABLE = "ROLECALL_SCRATCH"
# Tells a run child that it plans, and where to note what it left out.
PLAN_VARIABLE = "ROLECALL_PLAN_NOTES"
# Fields of /proc/PID/stat, counted from the one after the name.
_SIZE, _ENVIRONMENT_START = 20, 47
# A program is loaded in far less, unless the machine is very busy.
_MOST_LOOKS = 1000


def processes_with(variable: str, value: str) -> Iterator[int]:
    """The processes that carry this variable, as far as we may look."""
    wanted = f"{variable}={value}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in environment_of(int(folder.name)):
                yield int(folder.name)


def environment_of(pid: int) -> list[bytes]:
    """Its variables, as `NAME=value`. OSError where it is gone, or not ours to ask."""
    folder = Path(f"/proc/{pid}")
    for _ in range(_MOST_LOOKS):
        if content := (folder / "environ").read_bytes():
            return content.split(b"\0")
        if not _is_being_loaded(folder):
            break
        os.sched_yield()
    # It may have got there between the two looks.
    return (folder / "environ").read_bytes().split(b"\0")


def _is_being_loaded(folder: Path) -> bool:
    """Whether a new program has its memory and not yet its environment: `exec` is still at work.

    Whoever started it may know of it already, so to take it for one without marks is to overlook it.
    """
    fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    return fields[_SIZE] != b"0" and fields[_ENVIRONMENT_START] == b"0"
