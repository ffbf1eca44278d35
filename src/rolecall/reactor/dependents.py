"""Watches the objects that plays make, so that whoever changes or deletes one brings its CR back.

Promise: `note` is cheap, may be called as often as one likes and never blocks; from then on an
update or delete of such an object brings the keys of its owners, in every namespace mode. A create
never does, nor a status write, nor what a play itself wrote. A kind that cannot be watched, for
want of a right or because it does not exist, is named once with the way out and tried again; it
counts as watched only once it is.

One stream serves a kind and namespace, whatever the number of watches whose plays make it. Nothing
is kept of objects that nobody owns. Where the operator watches all namespaces, so do the streams;
where it is bound to some, each has its own, and cluster-scoped dependents are left alone, as it may
have no rights outside of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, ForbiddenError, NoSuchKindError, Resource
from rolecall.reactor.follow import Follow
from rolecall.reactor.own_writes import OwnWrites, hold
from rolecall.reactor.owned_objects import OwnedObjects
from rolecall.reactor.owners import Interest
from rolecall.reactor.pauses import Pauses
from rolecall.reactor.ports import Sink
from rolecall.settings import ReactorSettings
from rolecall.watches import Watch

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    """Plays of `owner` make `dependent`s, somewhere."""

    owner: Gvk
    dependent: Gvk
    by_annotation: bool
    namespace: str


class Dependents:
    """All streams over dependents of an operator."""

    def __init__(
        self,
        watches: Sequence[Watch],
        client: Client,
        sink: Sink,
        *,
        settings: ReactorSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._watches = {watch.gvk: watch for watch in watches}
        self._client = client
        self._sink = sink
        self._settings = settings or ReactorSettings()
        self._clock = clock or SystemClock()
        self._own_writes = OwnWrites()
        self._noted: set[_Note] = set()
        self._objects: dict[tuple[Gvk, str], OwnedObjects] = {}
        self._follows: dict[tuple[Gvk, str], asyncio.Task[None]] = {}
        self._resolving: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop all streams."""
        tasks = [*self._follows.values(), *self._resolving]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._follows.clear()

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        """Plays for `owner` make `dependent`s, tied by reference or by annotations.

        `namespace` is where one was seen; empty for a cluster-scoped kind, or where it is not known.
        """
        note = _Note(owner, dependent, by_annotation, namespace)
        if note in self._noted:
            return
        self._noted.add(note)
        watch = self._watches.get(owner)
        if watch is None or not watch.watch_dependent_resources or dependent in watch.blacklist:
            fields = {"kind": str(dependent), "owner": str(owner)}
            _logger.debug("Resource will not be watched/cached.", extra={"fields": fields})
            return
        task = asyncio.create_task(self._begin(watch, note), name=f"begin to watch {dependent}")
        self._resolving.add(task)
        task.add_done_callback(self._resolving.discard)

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """A play brought this object to this version: the event that says so is no news."""
        self._own_writes.note(uid, resource_version)

    def is_watched(self, dependent: Gvk, namespace: str = "") -> bool:
        """Whether a stream over a kind stands; in all namespaces, where `namespace` is empty."""
        places = ((dependent, namespace), (dependent, ""))
        found = [self._objects[place] for place in places if place in self._objects]
        return any(objects.is_complete for objects in found)

    async def _begin(self, watch: Watch, note: _Note) -> None:
        owner, resource = await self._resolved(note)
        for namespace in self._scopes(watch, note, resource):
            place = (note.dependent, namespace)
            objects = self._objects.get(place)
            if objects is None:
                objects = OwnedObjects(resource, namespace, self._sink, self._own_writes, hold)
                self._objects[place] = objects
            if objects.add_interest(Interest(watch.gvk, owner.namespaced, note.by_annotation)):
                await self._follow(place, objects)

    async def _resolved(self, note: _Note) -> tuple[Resource, Resource]:
        """Both kinds as the server has them, however long that takes."""
        pauses = Pauses(self._clock)
        said = ""
        while True:
            try:
                owner = await self._client.resource_for(note.owner)
                return owner, await self._client.resource_for(note.dependent)
            except ClusterError as failure:
                if failure.message != said and not isinstance(failure, NoSuchKindError):
                    _say(note.dependent, failure)
                said = failure.message
            await pauses.next()

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
        old = self._follows.pop(place, None)
        if old is not None:
            old.cancel()
            await asyncio.gather(old, return_exceptions=True)
        kind, namespace = place
        follow = Follow(
            self._client,
            kind,
            namespace,
            objects,
            clock=self._clock,
            silence_s=self._settings.silence_s,
        )
        if place not in self._follows:
            self._follows[place] = asyncio.create_task(follow.run(), name=f"follow {kind}")


def _say(dependent: Gvk, failure: ClusterError) -> None:
    fields = {"kind": str(dependent), "why": failure.message, "hint": failure.hint}
    if isinstance(failure, ForbiddenError):
        fields["rule"] = failure.rule
    _logger.warning("cannot watch dependents", extra={"fields": fields})
