"""What pruning needs from outside, as small Protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rolecall.clock import Clock, SystemClock
from rolecall.extensions.prune.inventory import Inventory
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.reconcile import RunFindings
from rolecall.record import ObjectId
from rolecall.runner import RunResult
from rolecall.watches import Watch
from rolecall.workqueue import Key


class FinishedRun(Protocol):
    """A run that is over, whatever it came to."""

    @property
    def key(self) -> Key: ...
    @property
    def watch(self) -> Watch: ...
    @property
    def cr(self) -> Json:
        """As the play saw it."""
        ...

    @property
    def is_finalizer(self) -> bool: ...
    @property
    def result(self) -> RunResult: ...
    @property
    def findings(self) -> RunFindings: ...


class Store(Protocol):
    """Keeps inventories beyond the life of this process."""

    async def load(self, key: Key) -> Inventory | None: ...
    async def save(self, key: Key, inventory: Inventory) -> None: ...
    async def forget(self, key: Key) -> None: ...
    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]:
        """What each CR wants that is not its own."""
        ...


class PruneEvents(Protocol):
    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        """Post one Event on a CR; never blocks."""
        ...


@dataclass(frozen=True, slots=True)
class PrunePorts:
    events: PruneEvents
    # Kind of the CRs, kind of the object (`Deployment.apps`), and: deleted, released, refused, failed.
    count: Callable[[Gvk, str, str], None] = lambda *_: None
    # Called with a UID and True before we delete the object, and with False if the deletion failed.
    note_delete: Callable[[str, bool], None] = lambda *_: None
    # Which other CR's run in flight asked for this object by name.
    in_flight: Callable[[Key, ObjectId], Key | None] = lambda *_: None
    # Why runs do only a part of what they do, such as `--tags`; empty: they do all.
    partial: str = ""
    # Other replicas act for other CRs, so what those want is asked for anew each time.
    is_divided: bool = False
    # A deletion is still to come, so the CR's next run must not be skipped as unchanged.
    run_again: Callable[[Key], None] = lambda *_: None
    clock: Clock = field(default_factory=SystemClock)


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What became of the objects that a run no longer wants."""

    held: str = ""  # why nothing was looked at
    deleted: Sequence[str] = ()
    released: Sequence[str] = ()  # still owned by others
    kept: Sequence[tuple[str, str]] = ()  # object, and why it stays
    refused: Sequence[str] = ()  # why, with the rule that lacks
    reported: Sequence[str] = ()  # would go, if the watch did more than report
    stopped: str = ""  # why none of too many was deleted

    def as_json(self) -> Json:
        kept = [{"object": name, "why": why} for name, why in self.kept]
        rows: Json = {"deleted": list(self.deleted), "released": list(self.released), "kept": kept}
        rows |= {"refused": list(self.refused), "held": self.held}
        rows |= {"reported": list(self.reported), "stopped": self.stopped}
        return {key: value for key, value in rows.items() if value}
