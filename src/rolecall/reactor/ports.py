"""What the reactor reports to, and what its informers call, as small Protocols."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import WatchEvent
from rolecall.workqueue import Cause, Key, Urgency


class Sink(Protocol):
    """Takes keys: the queue, or `OwnedKeys` before it."""

    def add(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        """Reconcile this key, this soon, for this cause; must not block."""
        ...


class CrMetrics(Protocol):
    """Knows which CRs there are."""

    def seen(self, key: Key, created: datetime) -> None:
        """The CR exists since then; may come several times."""
        ...

    def gone(self, key: Key) -> None:
        """The CR exists no more; may come for one that never was seen."""
        ...


class ListAgain(Exception):  # noqa: N818 - a wish, not an error
    """Raised by a handler that wants its objects in another form: begin anew at once."""


class InformerHandler(Protocol):
    """What an informer calls."""

    @property
    def wants_metadata_only(self) -> bool:
        """What to ask for, read before each list."""
        ...

    def on_list_begins(self) -> None:
        """A list begins; it will name every object."""
        ...

    def on_listed(self, item: Json) -> None:
        """One object of a list."""
        ...

    def on_list_complete(self) -> None:
        """The list is complete: what it did not name is gone."""
        ...

    def on_event(self, event: WatchEvent) -> None:
        """An object was added, modified or deleted."""
        ...

    def on_trouble(self, failure: ClusterError) -> None:
        """It does not work for now; called once until it works again."""
        ...

    def on_synced(self, is_synced: bool) -> None:
        """Whether every change is seen from now on, or not any more; may repeat itself."""
        ...
