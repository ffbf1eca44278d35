"""kopf, tuned to one kind: it watches and reconnects; we hear what happens to which object.

Promise: nothing of kopf's is ever written to the cluster, and nothing of kopf's reaches beyond this
module. Its whole operator runs as its makers advise for embedding, in a thread and event loop of
its own: there it finds no signals to catch, and the habit of its shutdown to cancel every task of
the loop harms nobody. What it says is handed over to our loop as small `Sighting`s; what it asks of
the API server goes through a session that we lend it, so we know of each list and each watch how it
was answered.

Found by reading kopf, and closed here:
- It takes its own finalizer off objects that carry it: ours has a name that no object has.
- It builds a copy of each object's essence to compare: our storages build, fetch and store nothing.
- When an operator fails, it can end the whole process after a while: switched off.
- Any 403 or 404 of one kind ends the whole operator: hence one radio a kind.
- Imported, it imports the official Kubernetes client (19 MB) only to recognise its classes: hidden.
- It logs retries as errors, under every logger's root: demoted to debug, as we report the outcome.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rolecall.kube import Access, Credentials, Exchange, Loan, Resource, lend_session
from rolecall.reactor.known_objects import How, Sighting, sighting_of


@contextmanager
def _hidden(*packages: str) -> Iterator[None]:
    """Make optional imports fail; what is imported already stays."""
    absent = [package for package in packages if package not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: import fails
    try:
        yield
    finally:
        for package in absent:
            del sys.modules[package]


with _hidden("kubernetes", "kubernetes_asyncio", "pykube"):
    import kopf

_logger = logging.getLogger(__name__)

# What kopf lists comes empty (see `kube.lending`), since the receiver lists by itself; that a request
# names the size of a page is how our session knows a list.
_PAGE_SIZE = 1
# Each stream is ended by the server after so long, so that a healthy radio is heard to call again.
STREAM_S = 600.0
_OTHER_CONNECTIONS = 2  # for lists and discovery, beside one for each stream
STOP_S = 15.0
_RETRIES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
_HOW = {None: How.LISTED, "ADDED": How.CREATED, "MODIFIED": How.CHANGED, "DELETED": How.GONE}


@dataclass(frozen=True, slots=True)
class Hearer:
    """Whom a radio tells, always on the loop that started it."""

    sighting: Callable[[Sighting], None]
    exchange: Callable[[Exchange], None]
    end: Callable[[BaseException | None], None]


class Radio:
    """One kind, in some namespaces or (none given) in all."""

    def __init__(
        self,
        resource: Resource,
        namespaces: Collection[str],
        credentials: Credentials,
        hearer: Hearer,
        silence_s: float,
    ) -> None:
        self._resource = resource
        self._namespaces = tuple(namespaces)
        self._credentials = credentials.copy()
        self._hearer = hearer
        self._silence_s = silence_s
        self._home = asyncio.get_running_loop()
        self._thread = threading.Thread(
            target=self._run, name=f"radio {resource.plural}", daemon=True
        )
        self._ended = asyncio.Event()  # of our loop
        self._is_off = False
        # Set once the thread's own loop runs.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._operating: asyncio.Task[None] | None = None
        self._loans: list[Loan] = []
        self._parcel: list[Sighting | Exchange] = []
        self._refused: Access | None = None

    def start(self) -> None:
        """Begin to listen."""
        _demote_kopf_logs()
        self._thread.start()

    async def stop(self) -> None:
        """Be silent at once; return when the thread is gone."""
        self._is_off = True
        if self._loop is not None and self._operating is not None and not self._loop.is_closed():
            # Its stop flag would be politer, and wait five seconds for nobody.
            self._loop.call_soon_threadsafe(self._operating.cancel)
        try:
            async with asyncio.timeout(STOP_S):
                await self._ended.wait()
        except TimeoutError:  # it hears no more, and ends with the process at the latest
            fields = {"kind": str(self._resource.gvk)}
            _logger.warning("kopf did not end in time", extra={"fields": fields})
        else:
            self._thread.join()

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            asyncio.run(self._operate())
        except BaseException as caught:
            failure = caught
        self._home.call_soon_threadsafe(self._report_end, failure)

    async def _operate(self) -> None:
        self._loop, self._operating = asyncio.get_running_loop(), asyncio.current_task()
        if self._is_off:
            return
        try:
            await kopf.operator(
                registry=self._registry(),
                settings=self._settings(),
                clusterwide=not self._namespaces,
                namespaces=self._namespaces,
            )
        finally:
            for loan in self._loans:
                await loan.close()

    def _registry(self) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()
        gvk = self._resource.gvk
        kopf.on.login(registry=registry)(self._log_in)
        listen = kopf.on.event(
            group=gvk.group,
            version=gvk.version,
            plural=self._resource.plural,
            id="hear",
            registry=registry,
        )
        listen(self._hear)
        return registry

    def _settings(self) -> kopf.OperatorSettings:
        settings = kopf.OperatorSettings()
        settings.posting.enabled = False
        settings.peering.standalone = True
        settings.scanning.disabled = True  # kinds and namespaces are the receiver's business
        settings.process.ultimate_exiting_timeout = None
        settings.watching.chunk_size = _PAGE_SIZE
        settings.watching.server_timeout = int(STREAM_S)  # `600.0` is refused
        settings.watching.inactivity_timeout = self._silence_s
        settings.networking.error_backoffs = _RETRIES_S
        settings.queueing.idle_timeout = 0.01  # a worker for each object, gone when it has nothing
        settings.persistence.finalizer = "rolecall.invalid/on-no-object"
        settings.persistence.diffbase_storage = _NoDiffBase()
        settings.persistence.progress_storage = _NoProgress()
        return settings

    async def _log_in(self, **_: Any) -> kopf.AiohttpSession:
        if self._refused is not None:  # kopf asks again after a 401 only
            await self._credentials.renew(self._refused)
        self._refused = await self._credentials.current()
        streams = max(1, len(self._namespaces))
        loan = await lend_session(
            self._credentials, self._tell, most_connections=streams + _OTHER_CONNECTIONS
        )
        self._loans.append(loan)
        server = str(self._refused.server)
        return kopf.AiohttpSession(server=server, aiohttp_session=loan.session)

    async def _hear(self, *, event: Any, **_: Any) -> None:
        how = _HOW.get(event["type"])
        if how is not None:
            self._tell(sighting_of(how, event["object"]["metadata"]))

    def _tell(self, news: Sighting | Exchange) -> None:
        """Collect what one turn of kopf's loop brings, and send it home in one parcel.

        One parcel for each object would make the two threads fight for the interpreter: measured at
        5,000 objects, that doubled the time.
        """
        self._parcel.append(news)
        if len(self._parcel) == 1 and self._loop is not None:
            self._loop.call_soon(self._send_parcel)

    def _send_parcel(self) -> None:
        parcel, self._parcel = self._parcel, []
        self._home.call_soon_threadsafe(self._open_parcel, parcel)

    def _open_parcel(self, parcel: list[Sighting | Exchange]) -> None:
        for news in parcel:
            if self._is_off:
                return
            if isinstance(news, Exchange):
                self._hearer.exchange(news)
            else:
                self._hearer.sighting(news)

    def _report_end(self, failure: BaseException | None) -> None:
        self._ended.set()
        if not self._is_off:
            self._hearer.end(failure)


class _NoDiffBase(kopf.DiffBaseStorage):
    """Keeps nothing, compares nothing."""

    def build(self, *, body: Any, extra_fields: Any = None) -> Any:  # noqa: ARG002 - kopf's names
        """Nothing is worth comparing."""
        return {}

    def fetch(self, *, body: Any) -> Any:  # noqa: ARG002 - kopf's names
        """Nothing was kept."""
        return None

    def store(self, *, body: Any, patch: Any, essence: Any) -> None:
        """Nothing is kept."""


class _NoProgress(kopf.ProgressStorage):
    """Keeps no progress."""

    def fetch(self, *, key: Any, body: Any) -> Any:  # noqa: ARG002 - kopf's names
        """Nothing was kept."""
        return None

    def store(self, *, key: Any, record: Any, body: Any, patch: Any) -> None:
        """Nothing is kept."""

    def purge(self, *, key: Any, body: Any, patch: Any) -> None:
        """Nothing is there to purge."""

    def touch(self, *, body: Any, patch: Any, value: Any) -> None:
        """No object is touched."""

    def clear(self, *, essence: Any) -> Any:
        """Nothing is there to clear."""
        return essence


class _Demoted(logging.Handler):
    """Says again, as debug, what kopf logs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass one record on."""
        _logger.debug("kopf said", extra={"fields": {"said": record.getMessage()}})


def _demote_kopf_logs() -> None:
    root = logging.getLogger("kopf")
    # Below the level that somebody reads, kopf need not even put its words together.
    root.setLevel(logging.DEBUG if _logger.isEnabledFor(logging.DEBUG) else logging.ERROR)
    if not any(isinstance(handler, _Demoted) for handler in root.handlers):
        root.addHandler(_Demoted())
        root.propagate = False
