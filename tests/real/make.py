"""Targets of a Makefile, as people call them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make(folder: Path, target: str, *variables: str) -> str:
    """What it printed; it must succeed."""
    command = ["make", "--no-print-directory", target, *variables]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
