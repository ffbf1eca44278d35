"""Keeps one watch heard, whatever happens: no such kind, no right, a dead stream, a broken radio.

Promise: every change of a CR that the watch's predicates let through brings its key into the queue,
once, and nothing that happens to one watch touches another. While a kind cannot be heard, the
reason and its way out are logged once, and it is tried again: at once when its CRD changes, else
with growing pauses.

The hard part is that kopf does not say when a list is complete, nor notice what was deleted while
it was not connected. So after each of kopf's lists, when its stream stands, an *audit* lists the
metadata once more and compares: what is unknown is heard now, what is known but missing is gone.
The audit is also what makes a watch `synced`. And because no stream is trusted to be alive, each
namespace's stream has to be heard calling the server again within its time, or the radio is
replaced.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.kube import Client, Exchange, NoSuchKindError, Resource
from rolecall.reactor.known_objects import How, KnownObjects, Mark, Place, Sighting, sighting_of
from rolecall.reactor.own_writes import OwnWrites, hold
from rolecall.reactor.pauses import LONGEST_S, Pauses
from rolecall.reactor.ports import Onlooker, Sink
from rolecall.reactor.radio import STREAM_S, Hearer, Radio
from rolecall.reactor.rights import Rights, rights_to_hear
from rolecall.settings import ReactorSettings
from rolecall.watches import Watch
from rolecall.workqueue import Key, Urgency

_logger = logging.getLogger(__name__)
_NAMESPACE = re.compile(r"/namespaces/([^/]+)/[^/]+$")
_FIRST_ANSWER_S = 15.0
_ITEMS_PER_TURN = 100  # of the loop; some 2 ms
# How often to look for a kind that is missing, where we hear of new CRDs, and where we do not.
_WITH_WORD_S = 300.0
_WITHOUT_WORD_S = 30.0


class Hearing(Enum):
    """How a watch stands."""

    STARTING = "starting"
    SYNCED = "synced"
    NO_SUCH_KIND = "waiting for its CRD"
    REFUSED = "waiting for a right"


@dataclass(slots=True)
class _Stream:
    """One namespace of a radio (or all of them): what is known of its connection."""

    answered_at: float | None = None
    was_listed: bool = True  # an audit is due once the stream stands
    auditing: asyncio.Task[None] | None = None
    is_synced: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all receivers share."""

    client: Client
    sink: Sink
    onlooker: Onlooker
    settings: ReactorSettings
    clock: Clock
    own_writes: OwnWrites  # of the engine, on CRs without generation
    # Few at a time ask for rights and audit: each connection costs 256 KB, and they come together.
    gate: asyncio.Semaphore


class Receiver:
    """One watch."""

    def __init__(self, watch: Watch, surroundings: Surroundings) -> None:
        self.watch = watch
        self.state = Hearing.STARTING
        self._client = surroundings.client
        self._sink = surroundings.sink
        self._onlooker = surroundings.onlooker
        self._settings = surroundings.settings
        self._clock = surroundings.clock
        self._own_writes = surroundings.own_writes
        self._gate = surroundings.gate
        self._known = KnownObjects(watch)
        # The first list of a namespace is old news; what a later one brings happened in a gap.
        self._listed_once: set[str] = set()
        self._streams: dict[str, _Stream] = {}
        self._resource: Resource | None = None  # as listened to last
        self._comparing: asyncio.Task[None] | None = None
        self._trouble: asyncio.Future[str] | None = None
        self._said = ""
        self._lacks_rights = False  # in some namespace
        self._pauses = Pauses(surroundings.clock)
        # Without word of new CRDs, kinds that are missing have to be looked for.
        self.hears_of_kinds = True

    def kinds_changed(self) -> None:
        """The CRDs of this watch's group changed: look again."""
        self._client.discovery.forget(self.watch.gvk.group)
        self._pauses.cut_short()
        if self._trouble is not None and self._comparing is None:
            self._comparing = asyncio.create_task(self._compare())

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                resource = await self._client.resource_for(self.watch.gvk)
                rights = await self._rights_to(resource)
                self._lacks_rights = rights.refusal is not None
                if rights.refusal is not None:
                    self._say(rights.refusal.message, rights.refusal.hint)
                if rights.namespaces:
                    await self._listen(resource, rights.namespaces)
                else:
                    self.state = Hearing.REFUSED
                    await self._pauses.next()
            except NoSuchKindError as failure:
                await self._wait_for_kind(failure)
            except ClusterError as failure:
                self._say(failure.message, failure.hint)
                await self._pauses.next()

    def kind_removed(self) -> None:
        """The CRD is gone, and with it every CR, whether that was heard or not."""
        for place in self._known.places():
            self._lose(place)

    def is_of(self, plural: str, group: str) -> bool:
        """Whether this is the watch of that CRD's kind."""
        listened_to = self._resource is not None and self._resource.plural == plural
        return listened_to and self.watch.gvk.group == group

    async def _compare(self) -> None:
        """Listen anew if the kind is not what it was when listening began."""
        try:
            now, then = await self._client.resource_for(self.watch.gvk), self._resource
            # A CRD that is being deleted has fewer verbs; the deletions of its CRs must be heard.
            if then and (now.plural, now.namespaced) != (then.plural, then.namespaced):
                self._break_off("the kind changed")
        except ClusterError as failure:
            self._break_off(failure.message)
        finally:
            self._comparing = None

    async def _wait_for_kind(self, failure: NoSuchKindError) -> None:
        self.state = Hearing.NO_SUCH_KIND
        self._say(failure.message, failure.hint)
        # What is known stays known: a server that starts lacks its kinds for a moment, too. Discovery
        # lags a little behind a CRD: a few looks in short order, then mostly wait for word.
        await self._pauses.next(longest_s=_WITH_WORD_S if self.hears_of_kinds else _WITHOUT_WORD_S)
        self._client.discovery.forget(self.watch.gvk.group, self.watch.gvk.version)

    async def _rights_to(self, resource: Resource) -> Rights:
        wanted = self._settings.namespaces if resource.namespaced else ()
        async with self._gate:
            return await rights_to_hear(self._client, resource, wanted)

    async def _listen(self, resource: Resource, namespaces: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        self._trouble = loop.create_future()
        self._resource = resource
        self._streams = {namespace: _Stream() for namespace in namespaces}
        hearer = Hearer(self._hear, self._on_exchange, self._on_end)
        scope = [namespace for namespace in namespaces if namespace]
        radio = Radio(resource, scope, self._client.credentials, hearer, self._settings.silence_s)
        radio.start()
        tasks = [asyncio.create_task(self._guard())]
        if self._lacks_rights:
            tasks.append(asyncio.create_task(self._look_for_rights(resource, namespaces)))
        try:
            trouble = await self._trouble
        finally:
            self._trouble = None
            tasks += [each.auditing for each in self._streams.values() if each.auditing]
            living = [*tasks, self._comparing] if self._comparing else tasks
            for task in living:
                task.cancel()
            await asyncio.gather(radio.stop(), *living, return_exceptions=True)
            self._comparing = None
        fields = {"kind": str(self.watch.gvk), "why": trouble}
        _logger.debug("stopped listening", extra={"fields": fields})
        await self._pauses.next()
        self._client.discovery.forget(self.watch.gvk.group, self.watch.gvk.version)

    async def _guard(self) -> None:
        """Break off when a stream was never answered, or did not call again in time."""
        # kopf waits in silence for a kind that its own discovery did not find.
        await self._clock.sleep(_FIRST_ANSWER_S)
        if any(stream.answered_at is None for stream in self._streams.values()):
            self._break_off("never answered")
        patience_s = STREAM_S + self._settings.silence_s
        while True:
            await self._clock.sleep(self._settings.silence_s / 4)
            oldest = min(stream.answered_at or 0.0 for stream in self._streams.values())
            if self._clock.monotonic() - oldest > patience_s:
                kind = self.watch.gvk.kind
                self._say(f"no word of {kind} for {patience_s:.0f} s; listening anew")
                self._break_off("silence")

    async def _look_for_rights(self, resource: Resource, namespaces: Sequence[str]) -> None:
        """Break off when a namespace that was refused is no longer."""
        while True:
            await self._clock.sleep(LONGEST_S)
            with suppress(ClusterError):
                if (await self._rights_to(resource)).namespaces != namespaces:
                    self._break_off("rights changed")

    def _hear(self, sighting: Sighting) -> None:
        scope = sighting.namespace if sighting.namespace in self._streams else ""
        is_first_list = scope not in self._listed_once
        before = self._known.mark(sighting.place)
        urgency = self._known.hear(sighting, is_first_list=is_first_list)
        key = self._known.key(sighting.place)
        if sighting.how is How.GONE:
            if not self._known.knows(sighting.place):
                self._onlooker.gone(key)
        elif urgency is not None:
            self._onlooker.seen(key, sighting.created_at)
        if urgency is not None:
            self._bring(key, urgency, sighting, before)

    def _bring(self, key: Key, urgency: Urgency, sighting: Sighting, before: Mark | None) -> None:
        """Add a key, unless the change of an object without generation was the engine's own."""
        mark, uid = sighting.mark, sighting.uid
        may_be_own = self.watch.manage_status or self.watch.finalizer is not None
        if not may_be_own or not isinstance(mark, str) or not isinstance(before, str):
            self._sink.add(key, urgency)
            return

        def unless_own() -> None:
            if not self._own_writes.made_all_since(uid, before, mark):
                self._sink.add(key, urgency)

        hold(unless_own)

    def _lose(self, place: Place) -> None:
        """An object went without a word; its key is left to the reconcile, which finds nothing."""
        key = self._known.key(place)
        self._known.forget(place)
        self._onlooker.gone(key)
        self._sink.add(key, Urgency.EDIT)

    def _on_exchange(self, exchange: Exchange) -> None:
        if self._resource is None or not exchange.path.endswith(f"/{self._resource.plural}"):
            return  # discovery
        found = _NAMESPACE.search(exchange.path)
        stream = self._streams.get(found[1] if found else "")
        if stream is None:
            return
        if exchange.code >= 400:
            # A right or the kind went away; kopf would try for a while, and then end anyway.
            if exchange.code in (403, 404):
                self._break_off(f"answered {exchange.code}")
            return
        stream.answered_at = self._clock.monotonic()
        if not exchange.is_watch:
            stream.was_listed = True
        elif stream.was_listed and stream.auditing is None:
            stream.was_listed = False
            namespace = found[1] if found else ""
            stream.auditing = asyncio.create_task(self._audit(namespace, stream))
            stream.auditing.add_done_callback(self._on_audit_done)

    async def _audit(self, namespace: str, stream: _Stream) -> None:
        """Compare what was heard with what is."""
        try:
            async with self._gate:
                snapshot = self._known.places(namespace)
                listed = await self._hear_all(namespace)
            for place in self._known.unheard_since(snapshot, listed):
                self._lose(place)
        except ClusterError as failure:
            self._say(failure.message, failure.hint)
            self._break_off("the audit failed")
        else:
            self._on_audited(namespace, stream)
        finally:
            stream.auditing = None

    async def _hear_all(self, namespace: str) -> set[Place]:
        """Hear everything that is, and return where."""
        listed: set[Place] = set()
        pages = self._client.pages(self.watch.gvk, namespace, metadata_only=True)
        async for page in pages:
            for count, item in enumerate(page.items):
                if count % _ITEMS_PER_TURN == 0:
                    await asyncio.sleep(0)
                sighting = sighting_of(How.LISTED, item["metadata"])
                listed.add(sighting.place)
                self._hear(sighting)
        return listed

    def _on_audited(self, namespace: str, stream: _Stream) -> None:
        self._listed_once.add(namespace)
        stream.is_synced = True
        if all(each.is_synced for each in self._streams.values()):
            self.state = Hearing.SYNCED
            self._pauses.reset()
            if self._said and not self._lacks_rights:
                _logger.info("listening again", extra={"fields": {"kind": str(self.watch.gvk)}})
                self._said = ""

    def _on_audit_done(self, audit: asyncio.Task[None]) -> None:
        """What an audit did not expect is a bug, and a watch must not hang on it in silence."""
        failure = None if audit.cancelled() else audit.exception()
        if failure is not None and self._trouble is not None and not self._trouble.done():
            self._trouble.set_exception(failure)

    def _on_end(self, failure: BaseException | None) -> None:
        # Its text may quote a whole answer; its kind says enough.
        why = f"the stream over {self.watch.gvk.kind} failed: {type(failure).__name__}"
        self._say(why)
        self._break_off(why)

    def _break_off(self, why: str) -> None:
        if self._trouble is not None and not self._trouble.done():
            self._trouble.set_result(why)

    def _say(self, message: str, hint: str = "") -> None:
        """Warn, but not again and again of the same."""
        if message != self._said:
            self._said = message
            fields = {"kind": str(self.watch.gvk), "why": message, "hint": hint}
            _logger.warning("cannot listen", extra={"fields": fields})
