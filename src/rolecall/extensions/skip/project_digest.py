"""A digest of a project's files: by content, so that it is the same in the next pod.

Files are looked at by stat, and read where that changed. One look serves all keys that were due before
it, so ten thousand CRs of one role cost a look in some seconds. A project with more files than
`_MOST_FILES`, or one that cannot be read, has no digest: its runs are made.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from rolecall.clock import Clock
from rolecall.watches import Play
from rolecall_base.purity import is_counted

_LASTS_S = 5.0
_MOST_FILES = 5000
_MOST_BYTES = 64 * 1024 * 1024

_Stamp = tuple[int, int, int, int]


class ProjectDigests:
    """Of the plays of one engine. `inputs_of`: files and folders that a play may read."""

    def __init__(self, inputs_of: Callable[[Play], tuple[Path, ...]], clock: Clock) -> None:
        self._inputs_of = inputs_of
        self._clock = clock
        self._files: dict[str, tuple[_Stamp, bytes]] = {}
        self._known: dict[Path, tuple[float, str]] = {}

    def known(self, play: Play, since_s: float) -> str | None:
        """The digest where it was looked at since then, and not long ago; None: look."""
        looked_at, digest = self._known.get(play.path, (float("-inf"), ""))
        is_fresh = looked_at >= since_s and self._clock.monotonic() - looked_at < _LASTS_S
        return digest if is_fresh else None

    def look(self, play: Play) -> str:
        """The digest; empty where there is none. Blocking, some milliseconds at most."""
        now, digest = self._clock.monotonic(), self._digest(play)
        self._known[play.path] = (now, digest)
        return digest

    def _digest(self, play: Play) -> str:
        whole, count, size = hashlib.sha256(), 0, 0
        try:
            for root in self._inputs_of(play):
                for path, found in _files_below(str(root)):
                    count, size = count + 1, size + found.st_size
                    if count > _MOST_FILES or size > _MOST_BYTES:
                        return ""
                    # By its place in the project, which may lie elsewhere in another image.
                    whole.update(os.path.relpath(path, root).encode("utf-8", "surrogateescape"))
                    whole.update(b"\0" + self._content(path, found))
                whole.update(b"\1")
        except OSError:
            return ""
        return whole.hexdigest()

    def _content(self, path: str, found: os.stat_result) -> bytes:
        stamp = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
        known = self._files.get(path)
        if known is None or known[0] != stamp:
            digest = hashlib.sha256(Path(path).read_bytes()).digest()
            known = self._files[path] = (stamp, digest)
        return known[1]


def _files_below(root: str, depth: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """All files, in an order of their own; links are followed, as Ansible follows them."""
    try:
        found = os.stat(root)  # noqa: PTH116 - asked for thousands of files
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode):
        yield root, found
    elif stat.S_ISDIR(found.st_mode) and depth < 20:
        for name in sorted(os.listdir(root)):  # noqa: PTH208
            if is_counted(name):
                yield from _files_below(f"{root}/{name}", depth + 1)
