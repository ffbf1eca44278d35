"""Remembers what plays wrote, so that the events of these writes are no news.

A play that changes a dependent needs no further run to see its own change; the Go operator starts
one, and where a role never converges, another, without end. The memory is short and bounded: an
event follows its write within milliseconds, and a note that was lost costs one superfluous run.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST = 4096


class OwnWrites:
    """Versions of objects that plays made."""

    def __init__(self) -> None:
        self._versions: OrderedDict[tuple[str, str], None] = OrderedDict()

    def note(self, uid: str, resource_version: str) -> None:
        """A play brought this object to this version."""
        self._versions[uid, resource_version] = None
        if len(self._versions) > _MOST:
            self._versions.popitem(last=False)

    def made(self, uid: str, resource_version: str) -> bool:
        """Whether a play made this version."""
        return (uid, resource_version) in self._versions
