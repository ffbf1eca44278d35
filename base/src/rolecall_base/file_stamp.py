"""How a file is known to be as it was, without reading it."""

from __future__ import annotations

import os
from pathlib import Path

Stamp = tuple[int, ...]


def stamp_of(path: str | Path) -> Stamp | None:
    """Another one after any change; None where the file cannot be found."""
    try:
        status = os.stat(path)  # noqa: PTH116 - for each of some 200 files before each run
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev)
