"""Clusters that must not outlive who asked for them: those of a test run.

A guard waits at the end of a pipe whose other end only the owner holds. However the owner ends, the
pipe closes, and the guard takes the cluster down. While it waits it is a shell (1 MB), and becomes
Python only for the work. Rejected: PR_SET_PDEATHSIG, which fires when the *thread* that started the
child ends, and leaves the files. If the guard is killed as well, the owner's number and birth in the
folder tell the next run that the cluster is nobody's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rolecall.localcluster.processes import environment_for

_OWNER = "owner"
_WAIT_THEN_RUN = 'while read -r _; do :; done; exec "$@"'


def claim(folder: Path) -> None:
    """Say that the cluster in this folder is this process's; before anything is started in it."""
    (folder / _OWNER).write_text(f"{os.getpid()} {_birth(os.getpid())}")


def is_abandoned(folder: Path) -> bool:
    """Whether the cluster had an owner, and that owner is gone."""
    try:
        number, birth = (folder / _OWNER).read_text().split()
    except (OSError, ValueError):
        return False
    return _birth(int(number)) != birth


def start_guard(folder: Path) -> subprocess.Popen[bytes]:
    """From now on the cluster ends with us; keep the returned process, its pipe is the link."""
    return subprocess.Popen(
        [
            *("/bin/sh", "-c", _WAIT_THEN_RUN, "guard"),
            *(sys.executable, "-m", "rolecall.localcluster.guard", str(folder)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment_for(folder, "guard") | _python_path(),
        cwd="/",  # the folder that it removes must not be its own
        start_new_session=True,
    )


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": value} if (value := os.environ.get("PYTHONPATH")) else {}


def _birth(pid: int) -> str:
    """When the process began, in ticks since boot, and which boot; empty when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return f"{boot}:{stat.rpartition(')')[2].split()[19]}"
