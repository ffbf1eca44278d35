"""Which events of the watch are worth a look: renewals are not, or each replica would look at each one.

An event only wakes: what is decided, is decided by lists.
"""

from __future__ import annotations

from rolecall.election import holder_of
from rolecall.extensions.shards.lease_shapes import (
    ENDED,
    LEAVING,
    RELEASED_BY,
    WEIGHT,
    Naming,
    annotations_of,
    name_of,
)
from rolecall.kube import WatchEvent

_GONE = "DELETED"
_BOOKMARK = "BOOKMARK"


class News:
    """Remembers what matters of each Lease."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._known: dict[str, object] = {}

    def is_news(self, event: WatchEvent) -> bool:
        """Whether something changed that a decision may hang on."""
        name = name_of(event.object)
        if event.type == _BOOKMARK or not self._is_known_kind(name):
            return False
        if event.type == _GONE:
            return self._known.pop(name, None) is not None
        said = annotations_of(event.object)
        annotations = tuple(said.get(key) for key in (ENDED, LEAVING, RELEASED_BY, WEIGHT))
        matters = (holder_of(event.object), annotations)
        is_news = self._known.get(name) != matters
        self._known[name] = matters
        return is_news

    def _is_known_kind(self, name: str) -> bool:
        return bool(self._naming.tenure_in(name)) or self._naming.shard_in(name) is not None
