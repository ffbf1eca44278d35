"""Bring strace, with which tests kill processes at their system calls, and say whether it may be used.

    .venv/bin/python -m tools.strace_ready || export WITHOUT_STRACE=1

For `.ci/run`. A kernel may let nobody trace: then one line on stderr says so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from tools import debian_packages

_NOTHING = ["strace", "--output=/dev/null", "true"]


def main() -> int:
    """0 where it works."""
    if shutil.which("strace") is None:
        debian_packages.install(["strace"])
    if shutil.which("strace") is not None:
        tried = subprocess.run(_NOTHING, check=False, capture_output=True)
        if tried.returncode == 0:
            return 0
    why = "`apt-get install strace`, and a kernel that lets processes be traced"
    print(f"nothing is killed at system calls: it takes {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
