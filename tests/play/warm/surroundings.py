"""Bad surroundings for warm runs: a disk that is full, a machine that has no memory left."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.fixtures.eventually import eventually
from tests.fixtures.lacking import skip_or_fail
from tests.play.warm.runs import kill

_V1, _V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of one megabyte and a hundred files."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=100", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        skip_or_fail("a small disk can only be mounted by root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill_bytes(disk: Path) -> None:
    """Leave room for names, but not for a byte."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def fill_names(disk: Path) -> None:
    """Leave no room for another file or folder."""
    with contextlib.suppress(OSError):
        for number in range(1000):
            (disk / f"name-{number}").touch()


@contextlib.contextmanager
def little_memory(name: str, megabytes: int) -> Iterator[Path]:
    """A cgroup; who writes a process id to the file that it yields has no more memory than that."""
    is_v2 = (_V2 / "cgroup.controllers").exists()
    group = (_V2 if is_v2 else _V1) / name
    limit = "memory.max" if is_v2 else "memory.limit_in_bytes"
    try:
        group.mkdir()
        (group / limit).write_text(str(megabytes << 20))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        skip_or_fail(f"a limit of memory can only be set by root, in a cgroup: {error}")
    try:
        yield group / "cgroup.procs"
    finally:
        eventually(lambda: _is_removed(group))


def _is_removed(group: Path) -> bool:
    """End who is in it, and remove it once they are gone."""
    with contextlib.suppress(FileNotFoundError):
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                kill(int(pid))
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()
