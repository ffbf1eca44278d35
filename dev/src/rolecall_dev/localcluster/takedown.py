"""Take a cluster down so that no process and no file of it remains, whatever state it is in.

Needs no record: the processes are found by their marks, the files by their folder. One kind of file
lies elsewhere: the host-path provisioner makes its folders under /tmp/hostpath_pv, for all clusters of
the machine, and its path cannot be chosen. Their names are in what etcd stored, as plain text, so they
are read from its files; that works when nothing runs any more. Only empty folders are removed: nothing
runs in simulated pods, and a name in an object must not delete data of other programs.
"""

from __future__ import annotations

import mmap
import re
import shutil
from contextlib import suppress
from pathlib import Path

from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.identities import is_ours
from rolecall_dev.localcluster.layout import Layout, clusters_folder
from rolecall_dev.localcluster.owner import is_abandoned
from rolecall_dev.localcluster.real.network import remove_leftovers
from rolecall_dev.localcluster.system import locked

_VOLUMES = Path("/tmp/hostpath_pv")  # noqa: S108  (fixed inside the controller manager)
_VOLUME = re.compile(rb"/tmp/hostpath_pv/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def take_down(layout: Layout) -> bool:
    """Remove everything; False when there was nothing to remove."""
    if not layout.folder.exists() and not processes.find(layout.folder):
        return False
    with locked(layout.folder):
        clear(layout)
        layout.folder.rmdir()
    with suppress(OSError):  # other clusters live there too, or another `up` has just begun
        layout.folder.parent.rmdir()
    return True


def clear(layout: Layout) -> None:
    """The same, for who holds the lock already; the folder stays, since the lock is on it."""
    processes.end_all(layout.folder)
    remove_leftovers(layout)
    _remove_volumes(layout.data)
    _remove_copies(layout)
    for entry in layout.folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def sweep(root: Path | None = None) -> list[str]:
    """Take down what belongs to a process that is gone; returns the names."""
    swept = []
    root = root or clusters_folder()
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if folder.is_dir() and is_abandoned(folder) and take_down(Layout(folder)):
            swept.append(folder.name)
    return swept


def _remove_copies(layout: Layout) -> None:
    record = layout.read_record()
    for copy in map(Path, record.copies if record else ()):
        if is_ours(copy):
            copy.unlink()


def _remove_volumes(data: Path) -> None:
    names: set[str] = set()
    for file in (*data.glob("member/wal/*.wal"), *data.glob("member/snap/db")):
        if file.stat().st_size:
            with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as m:
                names.update(found[1].decode() for found in _VOLUME.finditer(m))
    for name in names:
        with suppress(OSError):
            (_VOLUMES / name).rmdir()
    with suppress(OSError):
        _VOLUMES.rmdir()
