"""Watches the objects that plays read, so that each change of them requeues the CR.

Promise: `run_ended` is cheap. After it, until the CR is deleted or its runs no longer read the object,
a change of an object that the last successful run read by name, or of one in a list that it read,
requeues the CR with a cause that names the object. Objects that the CR owns are left to
`dependent_informers`. A failed run adds its reads to those of the run before: it may have failed
because it waits for one of these objects.

Up to five objects of a kind in a namespace have a watch each, with a field selector for the name, for
which a right to that name is enough; above that, and for lists, one watch serves the kind and namespace
for any number of CRs. It stays until no CR reads there any more, so that watches do not come and go.

A watch that the API server forbids is logged once, with the rule to add, and retried: until it
succeeds, only the period of the CR finds changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError
from rolecall.extensions.reads.keys import WatchReads
from rolecall.extensions.reads.read_objects import ReadObjects, ReadPorts, rule_to_watch
from rolecall.extensions.reads.readers import Readers, ReadsOfKey
from rolecall.extensions.reads.reads_of_run import Spot, reads_of_run
from rolecall.gvk import Gvk
from rolecall.kube import Client, NoSuchKindError, Resource
from rolecall.log_fields import log_fields
from rolecall.reactor import Informer
from rolecall.reconcile import EndedRun
from rolecall.record import RunRecord
from rolecall.settings import ReactorSettings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch
from rolecall.workqueue import Key

MOST_NAMED_STREAMS = 5
_WHOLE = ""
# Events are written once and expire by themselves; Leases are written every few seconds.
_NEVER = frozenset({"Event", "Lease"})

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Watched:
    """One kind in one namespace, with its streams: by name, or one for all."""

    resource: Resource
    namespace: str
    readers: Readers = field(default_factory=Readers)
    objects: dict[str, ReadObjects] = field(default_factory=dict)
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)


class ReadInformers:
    def __init__(
        self,
        client: Client,
        ports: ReadPorts,
        *,
        settings: ReactorSettings | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self._client = client
        self._ports = ReadPorts(ports.sink, ports.is_own, self._warn, ports.call_later)
        self._settings = settings or ReactorSettings()
        self._supervisor = supervisor or Supervisor(SystemClock())
        self._watched: dict[Spot, _Watched] = {}
        self._spots: dict[Key, set[Spot]] = {}
        self._warned: dict[Spot, str] = {}

    async def close(self) -> None:
        tasks = [task for each in self._watched.values() for task in each.tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watched.clear()

    @property
    def streams(self) -> int:
        return sum(len(each.tasks) for each in self._watched.values())

    async def run_ended(self, run: EndedRun) -> None:
        """A run is over: follow what it read, and no longer what it did not."""
        if run.watch.extension(WatchReads) is None or run.is_finalizer:
            return
        if (record := run.findings.of(RunRecord)) is None:
            return
        key, reads = run.key, reads_of_run(record, run.watch, run.cr)
        is_whole = run.result.succeeded and record.is_complete
        for spot in self._spots.get(key, set()) - reads.keys() if is_whole else ():
            self._leave(spot, key)
        for spot, found in reads.items():
            watched = self._watched.get(spot) or await self._begun(spot, run.watch)
            if watched is not None:
                self._follow(spot, watched, key, found, is_whole=is_whole)

    def forget(self, key: Key) -> None:
        """The CR is gone."""
        for spot in self._spots.pop(key, set()).copy():
            self._leave(spot, key)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        """Another replica follows what these read."""
        for key in [key for key in self._spots if is_meant(key)]:
            self.forget(key)

    async def _begun(self, spot: Spot, watch: Watch) -> _Watched | None:
        """Begin with a kind and namespace that no CR read before; None: we must not watch it."""
        try:
            found = await self._client.discovery.by_plural(spot.group, spot.version, spot.plural)
        except ClusterError:
            return None  # the next run asks again
        if found is None or not found.is_watchable or not _is_wanted(found.gvk, watch):
            return None
        namespace = spot.namespace if found.namespaced else ""
        return self._watched.setdefault(spot, _Watched(found, namespace))

    def _follow(
        self, spot: Spot, watched: _Watched, key: Key, found: ReadsOfKey, *, is_whole: bool
    ) -> None:
        old = watched.readers.of(key)
        now = found if is_whole else old.joined(found)
        watched.readers.put(key, now)
        self._spots.setdefault(key, set()).add(spot)
        self._arrange(watched)
        for name, objects in watched.objects.items():
            fresh = now.names.keys() - old.names.keys()
            objects.compare(key, fresh if name == _WHOLE else fresh & {name})
            if name == _WHOLE:
                objects.compare_lists(key, now.lists.keys() - old.lists.keys())

    def _leave(self, spot: Spot, key: Key) -> None:
        self._spots.get(key, set()).discard(spot)
        if (watched := self._watched.get(spot)) is None:
            return
        watched.readers.put(key, None)
        self._arrange(watched)
        if not watched.readers:
            del self._watched[spot]
            self._warned.pop(spot, None)

    def _arrange(self, watched: _Watched) -> None:
        """Begin the streams that are needed now, and end those that are not."""
        readers = watched.readers
        names = readers.names
        is_one = _WHOLE in watched.tasks or readers.have_lists or len(names) > MOST_NAMED_STREAMS
        wanted = frozenset({_WHOLE}) if readers and is_one else names
        for name in watched.tasks.keys() - wanted:
            watched.tasks.pop(name).cancel()
            del watched.objects[name]
        for name in wanted - watched.tasks.keys():
            self._start(watched, name)

    def _start(self, watched: _Watched, name: str) -> None:
        resource, namespace = watched.resource, watched.namespace
        objects = ReadObjects(
            resource, namespace, watched.readers, self._ports, keeps_labels=name == _WHOLE
        )
        informer = Informer(
            self._client,
            resource.gvk,
            namespace,
            objects,
            clock=self._supervisor.clock,
            silence_s=self._settings.silence_s,
        )
        informer.field_selector = f"metadata.name={name}" if name else ""
        title = f"watch reads {resource.gvk}"
        keeps = self._supervisor.keep(title, informer.run)
        watched.objects[name] = objects
        watched.tasks[name] = asyncio.create_task(keeps, name=title)

    def _warn(self, resource: Resource, namespace: str, failure: ClusterError) -> None:
        """Once for a kind and namespace, however many streams it has."""
        gvk = resource.gvk
        spot = Spot(gvk.group, gvk.version, resource.plural, namespace)
        rule = rule_to_watch(failure)
        why = rule or failure.message
        if self._warned.get(spot) == why or isinstance(failure, NoSuchKindError):
            return
        self._warned[spot] = why
        hint = f"add `- {rule}` to a role in config/rbac, or let `rolecall rbac` write it"
        fields = {"kind": str(gvk), "namespace": namespace, "why": failure.message}
        fields |= {"hint": hint if rule else failure.hint}
        _logger.warning("cannot watch what plays read", extra=log_fields(**fields))


def _is_wanted(kind: Gvk, watch: Watch) -> bool:
    if kind.kind in _NEVER or kind in watch.blacklist:
        return False
    asked = watch.extension(WatchReads)
    named = asked.kinds if asked is not None else frozenset()
    return not named or kind.group_kind in {each.group_kind for each in named}
