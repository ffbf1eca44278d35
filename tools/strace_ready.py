"""Installs strace, with which tests kill processes at system calls, and tries whether it works.

A kernel may refuse to let processes be traced.
"""

from __future__ import annotations

import shutil
import subprocess

from tools import debian_packages

_NOTHING = ["strace", "--output=/dev/null", "true"]


def lack() -> str:
    """Empty where it works, once it is installed; else what it takes."""
    if shutil.which("strace") is None:
        debian_packages.install(["strace"])
    if shutil.which("strace") is not None:
        tried = subprocess.run(_NOTHING, check=False, capture_output=True)
        if tried.returncode == 0:
            return ""
    return "it takes `apt-get install strace`, and a kernel that lets processes be traced"
