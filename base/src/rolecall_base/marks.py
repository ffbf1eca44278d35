"""How a run's processes are known once their parents have ended: by marks that they inherit.

Each run child marks itself in two ways: by the run's folder in the environment, which programs carry,
and by a name in its memory map, which forks carry that started no program.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall_base.processes import environment_of
from rolecall_base.variables import SCRATCH_VARIABLE

_LONGEST_NAME = 200
_marks: list[mmap.mmap] = []


@dataclass(frozen=True, slots=True)
class MarkedRun:
    """A run, as its processes show it."""

    id: str
    scratch: str  # its temporary folder

    @classmethod
    def of(cls, run_id: str, environment: Mapping[str, str]) -> MarkedRun:
        """The run of an order."""
        return cls(run_id, environment.get(SCRATCH_VARIABLE, ""))

    def owns(self, pid: int) -> bool:
        """Whether a process carries a mark of this run."""
        with contextlib.suppress(OSError):
            if self.scratch and f"{SCRATCH_VARIABLE}={self.scratch}".encode() in environment_of(
                pid
            ):
                return True
        with contextlib.suppress(OSError):
            return f"/memfd:{_name(self.id)} ".encode() in Path(f"/proc/{pid}/maps").read_bytes()
        return False

    def processes(self) -> Iterator[int]:
        """All that carry a mark of this run, as far as we may look."""
        for folder in Path("/proc").glob("[0-9]*"):
            if self.owns(int(folder.name)):
                yield int(folder.name)


def mark_as(run_id: str) -> None:
    """Let this process, and all that it forks, be known as of this run. Costs no memory."""
    with contextlib.suppress(OSError):  # the environment of its programs has them, too
        descriptor = os.memfd_create(_name(run_id))
        os.ftruncate(descriptor, mmap.PAGESIZE)
        _marks.append(mmap.mmap(descriptor, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ))
        os.close(descriptor)


def _name(run_id: str) -> str:
    return f"rolecall-run-{run_id}"[:_LONGEST_NAME]
