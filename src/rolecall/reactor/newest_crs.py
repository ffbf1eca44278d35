"""The objects of edited CRs as their streams brought them, until the turns of their keys begin.

A turn whose object has just come by the stream need not read it. Kept is the line as the server sent
it, a fifth of the object decoded, and only while its key waits. So a CR that nobody edits costs
nothing here, and a burst of edits no more than `_MOST_BYTES`.

Promise: `take` gives an object once, and never an older one than the event that brought its key. It
may be older than a write of ours whose event is under way: who writes on top of it names its version,
and is refused then.
"""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.kube import object_of
from rolecall.workqueue import Key

_MOST_BYTES = 4 * 1024 * 1024


class NewestCrs:
    """One instance for all watches; lines are those of `WatchEvent`, empty where there is none."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lines: dict[Key, bytes] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._lines)

    def keep(self, key: Key, line: bytes) -> None:
        """An event brings this key. Where there is no room, keys that wait for longer keep theirs."""
        self.drop(key)
        if line and self._bytes + len(line) <= self._most_bytes:
            self._lines[key] = line
            self._bytes += len(line)

    def renew(self, key: Key, line: bytes) -> None:
        """An event that brings nobody: what is kept of its object is replaced."""
        if key in self._lines:
            self.keep(key, line)

    def take(self, key: Key) -> Json | None:
        """The object as it was last told; None where its turn has to read it."""
        line = self.drop(key)
        return object_of(line) if line else None

    def drop(self, key: Key) -> bytes:
        line = self._lines.pop(key, b"")
        self._bytes -= len(line)
        return line
