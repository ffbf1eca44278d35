"""Watches the objects that plays make, so that a change or deletion of one brings its CR back.

Promise: `note` is cheap, may be called as often as one likes and never blocks; from the end of the
kind's first list on, an update or delete of such an object brings the keys of its owners, in every
namespace mode. What changes before looks like a create and waits for the period. A create never does,
nor a status write, nor what a play itself wrote. A kind that cannot be watched, for want of a right or
because it does not exist, is named once with the way out and tried again; it counts as watched only
once it is, and no longer than it is. Each stream is supervised: a bug in it is logged, and it begins
anew.

One stream serves a kind and namespace, whatever the number of watches whose plays make it. Nothing
is kept of objects without an owner. Where the operator watches all namespaces, so do the streams;
where it is bound to some, each has its own, and cluster-scoped dependents are left alone, as it may
have no rights outside of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, NoSuchKindError, Resource
from rolecall.log_fields import log_fields
from rolecall.reactor.asked_objects import AskedObjects
from rolecall.reactor.informer import Informer
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.owned_objects import OwnedObjects, warn_of_dependents
from rolecall.reactor.owner_keys import Interest
from rolecall.reactor.pauses import Pauses
from rolecall.reactor.ports import Sink
from rolecall.reactor.stream_guards import awaited_kind
from rolecall.settings import ReactorSettings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    """Plays for CRs of one kind make objects of another, somewhere."""

    owner_kind: Gvk
    dependent_kind: Gvk
    by_annotation: bool
    namespace: str


class DependentInformers:
    """The informers of all dependents: one for each kind and namespace."""

    def __init__(
        self,
        watches: Sequence[Watch],
        client: Client,
        sink: Sink,
        *,
        settings: ReactorSettings | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._watches = {watch.gvk: watch for watch in watches}
        self._client = client
        self._sink = sink
        self._settings = settings or ReactorSettings()
        self._supervisor = supervisor or Supervisor(SystemClock())
        self._clock = self._supervisor.clock
        self._own_writes, self._asked = OwnWrites(), AskedObjects()
        self._noted: set[_Note] = set()
        self._objects: dict[tuple[Gvk, str], OwnedObjects] = {}
        self._informers: dict[tuple[Gvk, str], asyncio.Task[None]] = {}
        self._resolving: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        tasks = [*self._informers.values(), *self._resolving]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._informers.clear()

    def note(
        self, owner_kind: Gvk, dependent_kind: Gvk, *, by_annotation: bool, namespace: str
    ) -> None:
        """Plays for CRs of one kind make objects of another, tied by reference or by annotations.

        `namespace` is where one was seen; empty for a cluster-scoped kind, or where it is not known.
        """
        note = _Note(owner_kind, dependent_kind, by_annotation, namespace)
        if note in self._noted:
            return
        self._noted.add(note)
        watch = self._watches.get(owner_kind)
        if (
            watch is None
            or not watch.watch_dependent_resources
            or dependent_kind in watch.blacklist
        ):
            _logger.debug(
                "Resource will not be watched/cached.",
                extra=log_fields(kind=str(dependent_kind), owner=str(owner_kind)),
            )
            return
        name = f"begin to watch dependents {dependent_kind}"
        begins = self._supervisor.keep(name, lambda: self._begin(watch, note))
        task = asyncio.create_task(begins, name=name)
        self._resolving.add(task)
        task.add_done_callback(self._resolving.discard)

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """A play brought this object to this version: the event that says so is no news."""
        self._own_writes.note(uid, resource_version)

    def note_asked(self, owner: Key, group: str, plural: str, namespace: str, name: str) -> None:
        """A run of this CR asked for an object by its name."""
        self._asked.note(owner, group, plural, namespace, name)

    def note_own_delete(self, uid: str, is_ours: bool) -> None:
        """The engine deletes this object, or did not after all: that it goes is no news."""
        self._own_writes.note_deletion(uid, is_ours=is_ours)

    def is_watched(self, dependent_kind: Gvk, namespace: str = "") -> bool:
        """Whether every change of a kind is seen; in all namespaces, where `namespace` is empty."""
        places = ((dependent_kind, namespace), (dependent_kind, ""))
        found = [self._objects[place] for place in places if place in self._objects]
        return any(objects.is_synced for objects in found)

    @property
    def lacking(self) -> list[str]:
        """The kinds of which not every change is seen now: their drift waits for the period."""
        wanting = {kind for (kind, _), objects in self._objects.items() if not objects.is_synced}
        return sorted(map(str, wanting))

    def note_of_lacking(self) -> str:
        """The same, as a note of the readiness probe; empty: nothing lacks."""
        lacking = ", ".join(self.lacking)
        return f"not every change is seen: {lacking}" if lacking else ""

    async def _begin(self, watch: Watch, note: _Note) -> None:
        owner, resource = await self._kinds_of(note)
        for namespace in self._scopes(watch, note, resource):
            place = (note.dependent_kind, namespace)
            objects = self._objects.get(place)
            if objects is None:
                objects = OwnedObjects(
                    resource, namespace, self._sink, self._own_writes, self._asked
                )
                self._objects[place] = objects
            is_new = objects.add_interest(Interest(watch.gvk, owner.namespaced, note.by_annotation))
            if is_new or place not in self._informers:
                await self._follow(place, objects)

    async def _kinds_of(self, note: _Note) -> tuple[Resource, Resource]:
        """Both kinds as the server has them, however long that takes."""

        def warn(failure: ClusterError) -> None:
            if not isinstance(failure, NoSuchKindError):
                warn_of_dependents(note.dependent_kind, failure)

        pauses = Pauses(self._clock)
        owner = await awaited_kind(self._client, note.owner_kind, pauses, warn)
        return owner, await awaited_kind(self._client, note.dependent_kind, pauses, warn)

    def _scopes(self, watch: Watch, note: _Note, resource: Resource) -> Sequence[str]:
        """The namespaces to watch a dependent's kind in; `""` is all of them."""
        bounds = self._settings.namespaces
        if not resource.is_watchable:
            return ()
        if not resource.namespaced:
            wanted = not note.by_annotation or watch.watch_cluster_scoped_resources
            return ("",) if wanted and not bounds else ()
        if not bounds:
            return ("",)
        if not note.namespace:
            return bounds
        return (note.namespace,) if note.namespace in bounds else ()

    async def _follow(self, place: tuple[Gvk, str], objects: OwnedObjects) -> None:
        """Begin to follow, or begin anew, for an interest that did not count before."""
        old = self._informers.pop(place, None)
        if old is not None:
            old.cancel()
            await asyncio.gather(old, return_exceptions=True)
        kind, namespace = place
        informer = Informer(
            self._client,
            kind,
            namespace,
            objects,
            clock=self._clock,
            silence_s=self._settings.silence_s,
        )
        informer.on_history_lost = self._own_writes.forget
        if place not in self._informers:  # another note may have begun it while the old one ended
            name = f"watch dependents {kind}"
            keeps = self._supervisor.keep(name, informer.run)
            self._informers[place] = asyncio.create_task(keeps, name=name)
