"""One HTTP session to the API server, shared by everything in the engine.

Promise: a call either returns the whole answer or raises an error by meaning, within a bound time.
It is repeated only where that cannot do a thing twice: a refused connection and a 429 for every
verb, a broken connection and a 502 or 503 for verbs that are idempotent; never after a time-out,
because a server that is slow today is not helped by asking again. A 401 renews the credentials
once.

Answers are asked for uncompressed: on the way to a server next door gzip costs more than it saves.
The proxy's raw exchanges pass whatever encoding its client asked for, untouched.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError
from rolecall.kube.credentials import Access, Credentials
from rolecall.kube.errors import BUSY_CODES, Target, UnavailableError, error_for
from rolecall.kube.sockets import Sockets
from rolecall.kube.spelling import as_go_spells

_PAUSES_S = (0.1, 0.4, 1.6)
_LONGEST_PAUSE_S = 30.0
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"})
# aiohttp would add these on its own; a proxy must pass what its client said and no more.
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

OnCall = Callable[[str, str, int, float], None]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for what."""

    connect_s: float = 10.0
    # Above the API server's own limit for ordinary requests would mean to never see its answer.
    total_s: float = 60.0

    def for_call(self) -> aiohttp.ClientTimeout:
        """For a call with one answer."""
        return aiohttp.ClientTimeout(total=self.total_s, sock_connect=self.connect_s)

    def for_stream(self, silence_s: float | None) -> aiohttp.ClientTimeout:
        """For an answer without an end; `silence_s` bounds the time between two pieces."""
        return aiohttp.ClientTimeout(total=None, sock_connect=self.connect_s, sock_read=silence_s)


@dataclass(frozen=True, slots=True)
class Call:
    """One request, before it is known where the server is."""

    target: Target
    method: str
    path: str  # below the server's base, encoded
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None  # JSON
    content_type: str = "application/json"
    accept: str = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    code: int
    body: bytes
    headers: Mapping[str, str]


class Transport:
    """Sends calls; owns the session."""

    def __init__(
        self,
        credentials: Credentials,
        *,
        clock: Clock | None = None,
        timeouts: Timeouts | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        self.credentials = credentials
        self.timeouts = timeouts or Timeouts()
        self._clock = clock or SystemClock()
        self._on_call = on_call
        self._session: aiohttp.ClientSession | None = None
        self._sockets = Sockets()

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await self._sockets.wait_until_closed()

    async def send(self, call: Call) -> bytes:
        """Send a call and return the body of its answer; raises `ClusterError`s by meaning."""
        started = self._clock.monotonic()
        code = 0
        try:
            answer = await self._send(call)
            code = answer.code
        except ClusterError as failure:
            code = getattr(failure, "code", 404)
            raise
        finally:
            if self._on_call is not None:
                seconds = self._clock.monotonic() - started
                self._on_call(call.target.verb, call.target.rbac_name, code, seconds)
        return answer.body

    @asynccontextmanager
    async def stream(
        self, call: Call, *, silence_s: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open an answer without an end; refusals raise by meaning before anything is yielded."""
        headers = {"Accept": call.accept, "Accept-Encoding": "identity"}
        limits = self.timeouts.for_stream(silence_s)
        try:
            async with self.raw(
                call.method, _target_of(call), headers=headers, limits=limits
            ) as response:
                if response.status >= 400:
                    raise error_for(call.target, response.status, await response.read())
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as failure:
            raise _unreachable(call.target, failure) from failure

    @asynccontextmanager
    async def raw(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | AsyncIterable[bytes] | None = None,
        limits: aiohttp.ClientTimeout | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Pass a request through under our credentials; `target` is path and query, encoded.

        A header may come several times, in a multidict. The answer comes as it is: any code, any
        encoding, its body unread. A 401 is tried again with
        renewed credentials unless the body was a stream, which cannot be sent twice.
        """
        replayable = body is None or isinstance(body, bytes)
        for is_last in (False, True):
            access = await self.credentials.current()
            async with self._open(access, method, target, headers or {}, body, limits) as response:
                if response.status != 401 or is_last or not replayable:
                    yield response
                    return
            await self.credentials.renew(access)

    async def _send(self, call: Call) -> Answer:
        for pause_s in (*_PAUSES_S, None):
            try:
                answer = await self._attempt(call)
            except (aiohttp.ClientError, TimeoutError, OSError) as failure:
                error: ClusterError = _unreachable(call.target, failure)
                may_repeat = _was_never_sent(failure) or (
                    call.method in _IDEMPOTENT and not isinstance(failure, TimeoutError)
                )
                wait_s = 0.0
            else:
                if answer.code < 400:
                    return answer
                error = error_for(call.target, answer.code, answer.body)
                may_repeat = _asks_to_come_back(call, answer)
                wait_s = _retry_after_s(answer)
            if pause_s is None or not may_repeat:
                raise error
            await self._clock.sleep(max(pause_s, wait_s))
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, call: Call) -> Answer:
        headers = {"Accept": call.accept, "Accept-Encoding": "identity"}
        body = None
        if call.body is not None:
            headers["Content-Type"] = call.content_type
            body = as_go_spells(call.body)
        limits = self.timeouts.for_call()
        target = _target_of(call)
        async with self.raw(
            call.method, target, headers=headers, body=body, limits=limits
        ) as response:
            return Answer(response.status, await response.read(), response.headers)

    def _open(
        self,
        access: Access,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None,
        limits: aiohttp.ClientTimeout | None,
    ) -> aiohttp.client._RequestContextManager:
        base = access.server.raw_path.rstrip("/")
        sent = CIMultiDict({"User-Agent": "rolecall"})
        sent.update(headers)
        sent.update(access.headers)
        return self._opened_session().request(
            method,
            URL(f"{access.server.origin()}{base}{target}", encoded=True),
            headers=sent,
            data=body,
            ssl=access.tls if access.tls is not None else True,
            proxy=access.proxy,
            timeout=limits or self.timeouts.for_call(),
            allow_redirects=False,
        )

    def _opened_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Watches and followed logs hold a connection each: any limit would starve calls.
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=30, socket_factory=self._sockets.make
                ),
                auto_decompress=False,
                skip_auto_headers=_NOT_ADDED,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,  # would let a .netrc replace our Authorization
            )
        return self._session


def _target_of(call: Call) -> str:
    if not call.query:
        return call.path
    return f"{call.path}?{URL.build(query=call.query).raw_query_string}"


def _asks_to_come_back(call: Call, answer: Answer) -> bool:
    if answer.code == 429:  # refused before anything was done
        return True
    return answer.code in BUSY_CODES - {504} and call.method in _IDEMPOTENT


def _retry_after_s(answer: Answer) -> float:
    try:
        return min(float(answer.headers.get("Retry-After") or 0), _LONGEST_PAUSE_S)
    except ValueError:
        return 0.0


def _was_never_sent(failure: BaseException) -> bool:
    return isinstance(failure, aiohttp.ClientConnectorError)


def _unreachable(target: Target, failure: BaseException) -> UnavailableError:
    is_timeout = isinstance(failure, TimeoutError)
    # aiohttp's texts name host and port, never what was sent.
    why = "no answer in time" if is_timeout else str(failure) or type(failure).__name__
    return UnavailableError(f"could not {target}: {why}", is_timeout=is_timeout)
