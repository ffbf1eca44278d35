"""Whether a fork for a module waits: it says that it sleeps, or it and all below it use no CPU.

The second finds programs that wait, such as `helm --wait` or `kubectl wait`. Looked at a few times a
second, and only where the module takes longer than that. On a busy machine a module may get no CPU for
as long: one that could run if there were any does not wait.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from rolecall_base.processes import descendants_of
from rolecall_warm.hooks.waits import RunWaits

_LOOK_EVERY_S = 0.1
# So long nearly nothing was computed: it waits.
_QUIET_S = 0.3
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_QUIET_PART = 0.05
# From here on it computes again.
_BUSY_PART = 0.25


class ModuleLook:
    """Looks at a fork while its parent waits for it."""

    def __init__(self, waits: RunWaits, pid: int) -> None:
        self._waits, self._pid = waits, pid
        self._looked_s, self._cpu_s = time.monotonic(), 0.0

    @property
    def every_s(self) -> float | None:
        """How often to look; None: never."""
        return _LOOK_EVERY_S if self._waits.is_looked_for else None

    def look(self) -> None:
        """Say what the module does, if that changed."""
        if not self._waits.is_looked_for:
            return
        if self._waits.module_sleeps:
            self._waits.wait()
            self._looked_s = time.monotonic()
            return
        took_s = time.monotonic() - self._looked_s
        if took_s >= _QUIET_S:
            self._judge(took_s)

    def _judge(self, took_s: float) -> None:
        uses = [use for pid in (self._pid, *descendants_of(self._pid)) if (use := _use_of(pid))]
        cpu_s = sum(use.cpu_s for use in uses)
        part = max(cpu_s - self._cpu_s, 0.0) / took_s
        self._looked_s, self._cpu_s = time.monotonic(), cpu_s
        if part <= _QUIET_PART and not any(use.could_run for use in uses):
            self._waits.wait()
        elif part >= _BUSY_PART:
            self._waits.ask()


@dataclass(frozen=True, slots=True)
class _Use:
    cpu_s: float  # with that of its children that ended
    could_run: bool


def _use_of(pid: int) -> _Use | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return _Use(sum(map(int, fields[11:15])) * _TICK_S, fields[0] in "RD")
