"""Keeps the CRs of one watch followed, whatever happens: no such kind, no right, a dead stream.

Promise: every change that the watch's predicates let through (see `known_crs`) brings its key into
the queue, and nothing that happens to one watch, or to one namespace of it, touches another. What is
in the way is logged once with its way out, and tried again: at once when the kind's CRD changes, else
with growing pauses. What is known of a kind that is missing stays known until an event deletes its
CRD: a server that starts lacks its kinds for a moment, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from rolecall.errors import ClusterError
from rolecall.kube import Client, NoSuchKindError, Resource
from rolecall.reactor.cr_memo import CrMemo
from rolecall.reactor.known_crs import KnownCrs, SyncState, warn_of
from rolecall.reactor.kopf_stream import KopfStream
from rolecall.reactor.pauses import Pauses
from rolecall.reactor.stream_guards import StreamGuards, awaited_kind
from rolecall.settings import ReactorSettings
from rolecall.supervisor import Supervisor
from rolecall.watches import Watch

# Makes the handler of one namespace; it calls back when its state changes.
NewKnownCrs = Callable[[Callable[[SyncState], None]], KnownCrs]
# Of the states that its namespaces are in. A refused one counts where there is no other.
_MOST_DECISIVE_FIRST = (
    SyncState.STARTING,
    SyncState.NO_SUCH_KIND,
    SyncState.SYNCED,
    SyncState.REFUSED,
)


class CrWatch:
    """One watch, with a kopf operator for all of its namespaces."""

    def __init__(
        self,
        watch: Watch,
        client: Client,
        new_known: NewKnownCrs,
        settings: ReactorSettings,
        supervisor: Supervisor,
        retake_signals: Callable[[], None] | None = None,
    ) -> None:
        self.watch = watch
        self.name = f"watch {watch.gvk}"
        # What it was last sure of: a kind that comes late does not make the engine unready again.
        self.state = SyncState.STARTING
        self._client = client
        self._new_known = new_known
        self._settings = settings
        self._supervisor = supervisor
        self._retake_signals = retake_signals
        self._pauses = Pauses(supervisor.clock)
        self._known: dict[str, KnownCrs] = {}  # by namespace; "": all
        self._guards: dict[str, StreamGuards] = {}  # they know which version was reported last
        self._resource: Resource | None = None
        self._kind_news = asyncio.Event()
        self._kind_went = False

    @property
    def plural(self) -> str:
        """What its kind's objects are called in URLs; empty while the kind is not there."""
        return self._resource.plural if self._resource else ""

    def known(self) -> dict[tuple[str, str], CrMemo]:
        """The CRs as they are known now, by namespace and name; a copy, and quickly made."""
        found: dict[tuple[str, str], CrMemo] = {}
        for known in self._known.values():
            found.update(known.memos)
        return found

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            self._kind_went = False
            self._resource = await awaited_kind(
                self._client, self.watch.gvk, self._pauses, self._on_kind_awaited
            )
            await self._follow(self._resource)
            await self._pauses.wait()  # discovery lags a little behind a CRD that goes or comes

    def on_kind_changed(self) -> None:
        """The CRDs of this watch's group changed: look again."""
        self._client.discovery.forget(self.watch.gvk.group)
        self._pauses.cut_short()
        self._kind_news.set()

    def on_kind_removed(self, plural: str) -> None:
        """A CRD of this watch's group is gone."""
        if self._resource is not None and self._resource.plural == plural:
            for known in self._known.values():
                known.lose_all()

    async def _follow(self, resource: Resource) -> None:
        """Follow each namespace until the kind is gone, or is another."""
        namespaces = (self._settings.namespaces if resource.namespaced else ()) or ("",)
        self._set_known(namespaces)
        self._guards = {namespace: self._new_guards(namespace) for namespace in namespaces}
        stream = KopfStream(resource, self._guards, self._settings.silence_s, self._retake_signals)
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(
                self._supervisor.keep(self.name, stream.run), name=self.name
            )
            await self._until_other_kind(resource)
            following.cancel()

    def _set_known(self, namespaces: Sequence[str]) -> None:
        for namespace in self._known.keys() - set(namespaces):
            self._known.pop(namespace).lose_all()
        for namespace in namespaces:
            if namespace not in self._known:
                self._known[namespace] = self._new_known(self._on_state)

    def _new_guards(self, namespace: str) -> StreamGuards:
        guards = StreamGuards(
            self._client,
            self.watch.gvk,
            namespace,
            self._known[namespace],
            clock=self._supervisor.clock,
            silence_s=self._settings.silence_s,
        )
        guards.on_history_lost = self._known[namespace].on_history_lost
        if (earlier := self._guards.get(namespace)) is not None:
            guards.continue_after(earlier)
        return guards

    async def _until_other_kind(self, resource: Resource) -> None:
        while not self._kind_went:
            await self._kind_news.wait()
            self._kind_news.clear()
            with suppress(ClusterError):  # the streams meet it, too
                now = await self._client.resource_for(self.watch.gvk)
                if now.namespaced != resource.namespaced:
                    return

    def _on_state(self, state: SyncState) -> None:
        if state is SyncState.SYNCED:
            self._pauses.reset()
        if state is SyncState.NO_SUCH_KIND:
            self._kind_went = True
            self._kind_news.set()
        states = {known.state for known in self._known.values()}
        decisive = next(each for each in _MOST_DECISIVE_FIRST if each in states)
        if decisive is not SyncState.STARTING:
            self.state = decisive

    def _on_kind_awaited(self, failure: ClusterError) -> None:
        if isinstance(failure, NoSuchKindError):
            self.state = SyncState.NO_SUCH_KIND
        warn_of(self.watch, failure.message, failure.hint)
