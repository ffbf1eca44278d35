"""The objects of CRs as streams and first lists brought them, until the turns of their keys begin.

A turn whose object has just come by the stream need not read it. Kept is the line as the server sent
it, a fifth of the object decoded, and only while its key waits. So a CR that is not edited costs
nothing here, and a burst of edits or a start no more than `_MOST_BYTES`: some 10,000 CRs of a usual
size; the turns of all others read theirs.

Promise: `take` gives an object once, and never an older one than the event that brought its key. It
may be older than a write of ours whose event is under way: a write on top of it names its version,
and is refused then.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import object_of
from rolecall.workqueue import Key

_MOST_BYTES = 12 * 1024 * 1024


def line_of(item: Json, gvk: Gvk) -> bytes:
    """An object of a list as if an event had brought it, without what only the API server needs.

    Lists of built-in kinds do not say of each item what it is.
    """
    metadata = {name: value for name, value in item["metadata"].items() if name != "managedFields"}
    whole = {"apiVersion": gvk.api_version, "kind": gvk.kind, **item, "metadata": metadata}
    return json.dumps({"object": whole}, separators=(",", ":")).encode()


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
        """An event that brings no key: what is kept of its object is replaced."""
        if key in self._lines:
            self.keep(key, line)

    def take(self, key: Key) -> Json | None:
        """The object as the last event had it; None where its turn has to read it."""
        line = self.drop(key)
        return object_of(line) if line else None

    def keep_only(self, is_kept: Callable[[Key], bool]) -> None:
        """Drop the others, whose turns this replica will not take."""
        for key in [key for key in self._lines if not is_kept(key)]:
            self.drop(key)

    def drop(self, key: Key) -> bytes:
        line = self._lines.pop(key, b"")
        self._bytes -= len(line)
        return line
