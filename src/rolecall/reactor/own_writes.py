"""Remembers what plays and the engine wrote, so that the events of these writes are no news.

A play that changes a dependent of its CR needs no further run to see its own change. A dependent of
another CR does not run it either: its owner is not noted with a write, so that CR sees it at its
period. The Go operator starts a run, and where a role never converges, another, without end. The same
goes for the engine and a CR of a kind without generation, each of whose versions counts: writing its
status would bring it for ever.

The memory is short and bounded: an event follows its write within milliseconds, and a note that was
lost costs one superfluous run.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

_MOST = 4096
_DELETED = "deleted"
# An event can overtake the answer to the write that caused it, by a few milliseconds; a person
# does not notice that a repair begins so much later.
_DELAY_S = 0.05
CallLater = Callable[[Callable[[], None]], None]


def call_after_notes(then: Callable[[], None]) -> None:
    """Call `then` after 50 ms: a write of ours is noted by then."""
    asyncio.get_running_loop().call_later(_DELAY_S, then)


class OwnWrites:
    """Versions made by us: one instance for plays' writes, one for the engine's.

    Each is a number of 64 bits, as thousands are kept.
    """

    def __init__(self, call_later: CallLater | None = None) -> None:
        # Calls a function when what may have caused an event, if it was ours, is noted.
        self.call_after_notes = call_later or call_after_notes
        self._before: OrderedDict[int, int | None] = OrderedDict()

    def note(self, uid: str, resource_version: str, before: str = "") -> None:
        """This object was brought to this version, from that `before`, where it is known."""
        if resource_version == before:
            return  # it changed nothing
        self._before[_mark(uid, resource_version)] = _mark(uid, before) if before else None
        if len(self._before) > _MOST:
            self._before.popitem(last=False)

    def note_deletion(self, uid: str, *, is_ours: bool) -> None:
        """We are about to delete this object, or did not after all: whatever becomes of it is ours."""
        mark = _mark(uid, _DELETED)
        if is_ours:
            self.note(uid, _DELETED)
        else:
            self._before.pop(mark, None)

    def forget(self) -> None:
        """The store was set back: a version that comes again may be of any writer."""
        self._before.clear()

    def deletes(self, uid: str) -> bool:
        """Whether we are deleting this object."""
        return _mark(uid, _DELETED) in self._before

    def made(self, uid: str, resource_version: str) -> bool:
        """Whether this version was made by us."""
        return _mark(uid, resource_version) in self._before

    def made_all_since(self, uid: str, before: str, resource_version: str) -> bool:
        """Whether all versions between these two were our own writes.

        The last one being ours is not enough: a stream that was down shows the last one only.
        """
        first = _mark(uid, before)
        mark: int | None = _mark(uid, resource_version)
        while mark is not None and mark != first:
            mark = self._before.get(mark)
        return mark is not None


def _mark(uid: str, resource_version: str) -> int:
    return hash((uid, resource_version))
