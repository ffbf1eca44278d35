"""The requests of a run in flight, packed: a read takes 150 bytes here, and 700 as an object.

They are unpacked once, when the run is over and its tasks are known. Packing costs less than making the
object does, so both memory and CPU are saved. Rejected: one packed value each; what Python adds to a
value of its own is a third of it.
"""

from __future__ import annotations

import io
import marshal
from collections.abc import Iterator
from typing import NamedTuple

NO_KIND = -1  # of a request that is not packed


class RequestKind(NamedTuple):
    """What most requests of a run share with others."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    namespace: str


class NotedRequest(NamedTuple):
    """A request that was answered; the words are those of `RecordedRequest`."""

    kind: int  # index into the kinds
    at_s: float
    seconds: float
    name: str
    code: int
    path: str
    query: str
    sent_bytes: int
    answered_bytes: int
    patch_type: str
    manager: str
    object_version: str
    uid: str
    is_owned: bool
    items: int | None
    items_digest: str
    named_items: tuple[str, ...]
    leaves: tuple[str, ...]
    unread: str


class PackedRequests:
    """In the order in which they were answered."""

    def __init__(self) -> None:
        self._kinds: dict[RequestKind, int] = {}
        self._bytes = bytearray()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def kind(self, kind: RequestKind) -> int:
        """Its index."""
        return self._kinds.setdefault(kind, len(self._kinds))

    def add(self, noted: NotedRequest) -> None:
        self._bytes += marshal.dumps(tuple(noted))
        self._count += 1

    def unpacked(self) -> Iterator[tuple[RequestKind, NotedRequest]]:
        """All that are there by now; more may come meanwhile."""
        count = self._count  # before the bytes: they are added by another thread
        packed, kinds = io.BytesIO(bytes(self._bytes)), list(self._kinds)
        for _ in range(count):
            noted = NotedRequest._make(marshal.load(packed))  # noqa: S302 - we packed it ourselves
            yield kinds[noted.kind], noted
