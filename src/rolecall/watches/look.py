"""Looks for files that people named: what can be no name (too long, a NUL in it) is not there.

`Path.is_dir` raises for it, and the file that has such a name would end the engine with a traceback.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - see above


def is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110
