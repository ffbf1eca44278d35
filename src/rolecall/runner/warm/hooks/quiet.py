"""Whether a fork for a module waits: it says that it sleeps, or it and all below it use no CPU.

The second finds programs that wait, such as `helm --wait` or `kubectl wait`. Looked at a few times a
second, and only where the module takes longer than that.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from rolecall.runner.warm.hooks.waits import Waits
from rolecall.runner.warm.processes import descendants_of

LOOK_EVERY_S = 0.1
# So long nearly nothing was computed: it waits.
_QUIET_S = 1.0
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_QUIET_PART = 0.05
# From here on it computes again.
_BUSY_PART = 0.25


class ModuleLook:
    """Looks at a fork while its parent waits for it."""

    def __init__(self, waits: Waits, pid: int) -> None:
        self._waits, self._pid = waits, pid
        self._looked_s, self._cpu_s = time.monotonic(), 0.0

    @property
    def every_s(self) -> float | None:
        """How often to look; None: never."""
        return LOOK_EVERY_S if self._waits.is_looked_for else None

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
        cpu_s = _cpu_of_all(self._pid)
        part = max(cpu_s - self._cpu_s, 0.0) / took_s
        self._looked_s, self._cpu_s = time.monotonic(), cpu_s
        if part <= _QUIET_PART:
            self._waits.wait()
        elif part >= _BUSY_PART:
            self._waits.ask()


def _cpu_of_all(pid: int) -> float:
    return sum(map(_cpu_of, (pid, *descendants_of(pid))))


def _cpu_of(pid: int) -> float:
    """With its children that ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * _TICK_S
