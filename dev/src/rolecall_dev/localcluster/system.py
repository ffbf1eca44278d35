"""What the local cluster asks of the system: Linux, for /proc and pidfd."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rolecall.errors import InputError

_PROC = Path("/proc/self/stat")


def require_linux() -> None:
    """Raise, in one line with the way out, where a local cluster cannot be."""
    if sys.platform.startswith("linux") and hasattr(os, "pidfd_open") and _PROC.exists():
        return
    lack = "" if not sys.platform.startswith("linux") else " without /proc or without pidfd"
    raise InputError(
        f"the local cluster needs Linux (WSL does); this is {sys.platform}{lack}",
        hint="`rolecall run`, `run-role`, `check`, `init` and `bundle` work here:"
        " KUBECONFIG names any cluster",
    )
