"""kopf follows the CRs of a watch: one operator each, on the engine's loop, by its public API alone.

kopf decides when to list, when to watch and from which version; it keeps the events of each CR in
order, and calls our handler with them. Its session is ours, and reads through our client and its guards
(see `stream_guards`): refusals, nonsense and dead streams are waited for there, by namespace, so kopf
meets none. Where a new list is due, a stream ends for kopf with a 410. A list goes straight to the
handler, and kopf gets an empty one of that version: it does not say when one is complete.

Promise: kopf writes nothing; a request that does not read ends the stream with an error. kopf sees
name, uid and version of a CR; the event waits here until kopf calls our handler. So it finds no
finalizer of an earlier kopf operator, which it would remove, and nothing that users write can break it.

What this guards against: docs/concepts/triggers.md; measurements: decision 0001.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing, contextmanager
from itertools import count
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import Resource, WatchEvent
from rolecall.reactor.ports import ListAgain
from rolecall.reactor.stream_guards import OlderStateError, StreamGuards


@contextmanager
def _hidden(*libraries: str) -> Iterator[None]:
    """Not importable: kopf imports clients of Kubernetes where it finds them, 14 MB."""
    before = {name: sys.modules[name] for name in libraries if name in sys.modules}
    sys.modules.update(dict.fromkeys(libraries))  # type: ignore[arg-type]
    yield
    for name in libraries:
        del sys.modules[name]
    sys.modules.update(before)


with _hidden("kubernetes", "kubernetes_asyncio", "pykube"):
    import kopf

_IDLE_S = 0.5  # a worker of kopf waits for so long for the next event of its CR
# kopf's own limit for a silent stream continues it, ours lists anew: ours has to be the first.
_SILENCE_OF_KOPF = 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SEEN = ("name", "namespace", "uid", "resourceVersion")


class KopfStream:
    """Follows one kind; `guards` are those of each namespace, or of all: ""."""

    def __init__(
        self,
        resource: Resource,
        guards: Mapping[str, StreamGuards],
        silence_s: float,
        retake_signals: Callable[[], None] | None,
    ) -> None:
        self._resource = resource
        self._guards = guards
        self._retake_signals = retake_signals
        self._settings = kopf.OperatorSettings()
        self._settings.process.ultimate_exiting_timeout = None  # else SIGKILL, 10 minutes later
        self._settings.posting.enabled = False
        self._settings.scanning.disabled = True  # CRDs and namespaces are for others to follow
        self._settings.watching.reconnect_backoff = 0  # pauses are those of the guards
        self._settings.watching.inactivity_timeout = _SILENCE_OF_KOPF * silence_s
        self._settings.queueing.idle_timeout = _IDLE_S

    async def run(self) -> None:
        """Follow until cancelled; whatever else ends it, the handlers know that they miss changes."""
        try:
            while True:
                await self._follow()
        finally:
            for guards in self._guards.values():
                guards.handler.on_synced(False)

    async def _follow(self) -> None:
        """Until a handler asks for another list; raises what a handler or kopf failed with."""
        session = _Session(self._resource, self._guards)
        spawning = asyncio.create_task(self._spawned(session))
        try:
            await asyncio.wait({spawning})
            waited_for = {session.ended, *spawning.result()}
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = await spawning  # however early this was cancelled
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for ended in (session.ended, *tasks):
            if ended.done() and not ended.cancelled():
                ended.result()
        if not session.ended.done():
            raise RuntimeError("kopf ended by itself")

    async def _spawned(self, session: _Session) -> Collection[asyncio.Task[Any]]:
        gvk, names = self._resource.gvk, [*self._guards]
        options: Any = {"registry": kopf.OperatorRegistry()}
        kopf.on.login(**options)(session.log_in)
        kind: Any = {"group": gvk.group, "version": gvk.version, "plural": self._resource.plural}
        kopf.on.event(**kind, **options)(session.on_event)
        options |= {"clusterwide": True} if names == [""] else {"namespaces": names}
        options["identity"] = "rolecall"  # else kopf looks up the name of our host, in DNS
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        tasks = await kopf.spawn_tasks(settings=self._settings, standalone=True, **options)
        if self._retake_signals is not None:
            self._retake_signals()
        else:
            for number, handler in before.items():
                asyncio.get_running_loop().remove_signal_handler(number)
                signal.signal(number, handler)
        return tasks


class _Session:
    """What kopf uses in place of aiohttp's, and calls with events: one life of an operator."""

    closed = False

    def __init__(self, resource: Resource, guards: Mapping[str, StreamGuards]) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.headers = {"User-Agent": "rolecall"}
        self._resource = resource
        self._feeds = {resource.path(name): _Feed(each) for name, each in guards.items()}

    async def log_in(self, **_: object) -> kopf.AiohttpSession:
        """kopf's login handler."""
        return kopf.AiohttpSession(server="https://cluster", aiohttp_session=cast(Any, self))

    async def on_event(self, event: Mapping[str, Any], **_: object) -> None:
        """kopf's event handler."""
        with self._ending():
            self._feeds[event["object"]["feed"]].handle(event["object"]["number"])

    async def request(self, method: str, url: str, **_: object) -> _Answer:
        """One request of kopf."""
        with self._ending():
            path, query = urlsplit(url).path, parse_qs(urlsplit(url).query)
            if method.upper() != "GET":
                raise PermissionError(f"kopf may only read, not {method.upper()} {path}")
            if path not in self._feeds:
                return _Answer(_discovery(self._resource))
            if "watch" in query:
                return _Answer({}, self._lines(path, query["resourceVersion"][0]))
            version = await self._feeds[path].list()
            return _Answer({"items": [], "metadata": {"resourceVersion": version}})
        return await asyncio.get_running_loop().create_future()  # until kopf is cancelled

    async def close(self) -> None:
        """The client stays open."""

    async def _lines(self, path: str, version: str) -> AsyncIterator[bytes]:
        with self._ending():
            async with aclosing(self._feeds[path].events(version)) as events:
                async for kind, seen in events:
                    line = {"type": kind, "object": {**seen, "feed": path}}
                    yield json.dumps(line).encode() + b"\n"
            return
        await asyncio.get_running_loop().create_future()

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """A failure ends the operator, and is not for kopf to log."""
        try:
            yield
        except Exception as failure:
            if self.ended.done():
                return
            if isinstance(failure, ListAgain):
                self.ended.set_result(None)
            else:
                self.ended.set_exception(failure)


class _Feed:
    """The lists and events of one namespace, or of all."""

    def __init__(self, guards: StreamGuards) -> None:
        self._guards = guards
        self._was_listed = False  # just now, so a stream needs no further look at the version
        self._numbers = count()
        self._waiting: dict[int, WatchEvent] = {}  # for kopf to call our handler
        self._none_waits = asyncio.Event()

    async def list(self) -> str:
        """The version of a list that reached the handler, after all events that came before it."""
        while self._waiting:
            self._none_waits.clear()
            await self._none_waits.wait()
        self._was_listed = True
        while True:
            try:
                return await self._guards.list()
            except ListAgain:
                continue
            except (OlderStateError, ClusterError) as failure:
                await self._guards.lose(failure)

    async def events(self, version: str) -> AsyncGenerator[tuple[str, Json]]:
        """One stream, as kopf sees it."""
        continues, self._was_listed = not self._was_listed, False
        try:
            async with aclosing(self._guards.events(version, continues=continues)) as events:
                async for event in events:
                    number, metadata = next(self._numbers), event.object["metadata"]
                    if event.type != "BOOKMARK":
                        self._waiting[number] = event
                    seen = {key: metadata[key] for key in _SEEN if key in metadata}
                    yield event.type, {"metadata": seen, "number": number}
        except (OlderStateError, ClusterError) as failure:
            await self._guards.lose(failure)
            yield "ERROR", {"code": 410}  # kopf lists anew

    def handle(self, number: int) -> None:
        event = self._waiting.pop(number)
        if not self._waiting:
            self._none_waits.set()
        self._guards.handler.on_event(event)


class _Answer:
    """What kopf uses of an answer of aiohttp; our client closes what has to be closed."""

    status = 200
    closed = True

    def __init__(self, document: Json, lines: AsyncIterator[bytes] | None = None) -> None:
        self._document = document
        self._lines = lines
        self.content = self

    async def __aenter__(self) -> _Answer:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def json(self) -> Json:
        return self._document

    def iter_chunked(self, _size: int) -> AsyncIterator[bytes]:
        assert self._lines is not None
        return self._lines

    def close(self) -> None:
        pass


def _discovery(resource: Resource) -> Json:
    """What kopf asks for before it begins, of whatever path: our kind, and two that it waits for."""
    kinds = {"namespaces": False, "customresourcedefinitions": False}
    kinds[resource.plural] = resource.namespaced
    row = {"singularName": "", "verbs": ["list", "watch"]}
    groups = {"apiextensions.k8s.io": "v1", resource.gvk.group: resource.gvk.version}
    versions = {name: {"version": version} for name, version in groups.items() if name}
    return {
        "versions": ["v1"],
        "groups": [
            {"name": name, "versions": [version], "preferredVersion": version}
            for name, version in versions.items()
        ],
        "resources": [
            {"name": name, "kind": name, "namespaced": namespaced, **row}
            for name, namespaced in kinds.items()
        ],
    }
