"""One HTTP session to the API server, shared by everything in the engine.

Promise: a call either returns the whole answer or raises an error by meaning, within a bound time.
It is repeated only where that cannot do a thing twice: a refused connection and a 429 for every
verb, a broken connection, a 502, a 503 or an answer that cannot be read for verbs that are
idempotent; never after a time-out, because a server that is slow today is not helped by asking
again. A 401 renews the credentials once.

Answers are asked for uncompressed: on the way to a server nearby gzip costs more than it saves.
The proxy's raw exchanges pass whatever encoding its client asked for, untouched.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from multidict import CIMultiDict
from yarl import URL

from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube.answers import UNREADABLE, UnexpectedAnswerError, read_named
from rolecall.kube.connections import Connections, Fence
from rolecall.kube.credentials import Access, Credentials
from rolecall.kube.errors import (
    BUSY_CODES,
    GATEWAY_HINT,
    NoSuchKindError,
    Target,
    UnavailableError,
    error_for,
)
from rolecall.kube.go_json import go_json
from rolecall.kube.later import aiohttp
from rolecall.kube.tls_errors import (
    fault_of_own_certificate,
    lack_of_credentials,
    tls_error_for,
)
from rolecall.kube.unreachable import why_unreachable

_PAUSES_S = (0.1, 0.4, 1.6)
_LONGEST_PAUSE_S = 30.0
_LONGEST_TYPE = 60
# Keeps a load balancer from ending a connection on which nothing is said.
_HEARTBEAT_S = 30.0
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"})

OnCall = Callable[[str, str, int, float], None]
T = TypeVar("T")
# Makes something of an answer's body, or raises one of `answers.UNREADABLE`.
Read = Callable[[bytes], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for what."""

    connect_s: float = 10.0
    # Above the API server's own limit for ordinary requests would mean to never see its answer.
    total_s: float = 60.0

    def for_call(self) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(total=self.total_s, sock_connect=self.connect_s)

    def for_stream(self, silence_s: float | None) -> aiohttp.ClientTimeout:
        """For an answer without an end; `silence_s` bounds the time between two pieces."""
        return aiohttp.ClientTimeout(total=None, sock_connect=self.connect_s, sock_read=silence_s)


@dataclass(frozen=True, slots=True)
class ApiCall:
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
    code: int
    body: bytes
    headers: Mapping[str, str]
    server: str  # who it came from, for messages


class Transport:
    def __init__(
        self,
        credentials: Credentials,
        *,
        clock: Clock | None = None,
        timeouts: Timeouts | None = None,
        on_call: OnCall | None = None,
        fence: Fence | None = None,
        connections: Connections | None = None,
    ) -> None:
        self.credentials = credentials
        self.timeouts = timeouts or Timeouts()
        self._clock = clock or SystemClock()
        self._on_call = on_call
        self._fence = fence
        self._is_shared = connections is not None
        self._connections = connections or Connections(fence)

    async def close(self) -> None:
        """Close what is not shared."""
        if not self._is_shared:
            await self._connections.close()

    async def send(self, call: ApiCall, read: Read[T]) -> T:
        """Send a call and return its answer as `read` has it; raises `ClusterError`s by meaning.

        An answer that `read` cannot make anything of (see `answers`) is as good as none.
        """
        started = self._clock.monotonic()
        code = 0
        try:
            answer, document = await self._send(call, read)
            code = answer.code
        except ClusterError as failure:
            code = getattr(failure, "code", 404 if isinstance(failure, NoSuchKindError) else 0)
            raise
        finally:
            if self._on_call is not None:
                seconds = self._clock.monotonic() - started
                self._on_call(call.target.verb, call.target.rbac_name, code, seconds)
        return document

    @asynccontextmanager
    async def stream(
        self, call: ApiCall, *, silence_s: float | None
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
                check_json(call.target, response)
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
            if self._fence is not None:
                self._fence(method, target, headers or {}, body)
            opening = self._open(access, method, target, headers or {}, body, limits)
            async with AsyncExitStack() as stack:
                response = await self._trusted(opening, access, stack)
                if response.status != 401 or is_last or not replayable:
                    yield response
                    return
            await self.credentials.renew(access)

    @asynccontextmanager
    async def web_socket(
        self, target: str, protocols: Sequence[str]
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a WebSocket; aiohttp's own errors come out unchanged."""
        access = await self.credentials.current()
        base = access.server.raw_path.rstrip("/")
        opening = self._connections.session().ws_connect(
            URL(f"{access.server.origin()}{base}{target}", encoded=True),
            protocols=protocols,
            headers={"User-Agent": "rolecall", **access.headers},
            ssl=access.tls if access.tls is not None else True,
            proxy=access.proxy,
            max_msg_size=0,
            heartbeat=_HEARTBEAT_S,
        )
        async with opening as socket:
            yield socket

    async def _send(self, call: ApiCall, read: Read[T]) -> tuple[Answer, T]:
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
                wait_s = _retry_after_s(answer)
                if answer.code < 400:
                    try:
                        return answer, await _read(answer, read)
                    except UNREADABLE as failure:
                        error = _unreadable(call.target, answer, failure)
                        may_repeat = call.method in _IDEMPOTENT
                else:
                    error = await self._refusal(call, answer)
                    may_repeat = _asks_to_come_back(call, answer)
            if pause_s is None or not may_repeat:
                raise error
            await self._clock.sleep(max(pause_s, wait_s))
        raise AssertionError("the last attempt returns or raises")

    async def _refusal(self, call: ApiCall, answer: Answer) -> ClusterError:
        error = error_for(call.target, answer.code, answer.body)
        if answer.code == 401 or b"system:anonymous" in answer.body:
            login = (await self.credentials.current()).login
            fault = lack_of_credentials(login)
            if answer.code == 401:
                fault = fault or fault_of_own_certificate(login, self._clock.now())
            error.hint = fault or error.hint
        return error

    async def _attempt(self, call: ApiCall) -> Answer:
        headers = {"Accept": call.accept, "Accept-Encoding": "identity"}
        body = None
        if call.body is not None:
            headers["Content-Type"] = call.content_type
            body = go_json(call.body)
        limits = self.timeouts.for_call()
        target = _target_of(call)
        async with self.raw(
            call.method, target, headers=headers, body=body, limits=limits
        ) as response:
            server = str(response.url.origin())
            return Answer(response.status, await response.read(), response.headers, server)

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
        return self._connections.session().request(
            method,
            URL(f"{access.server.origin()}{base}{target}", encoded=True),
            headers=sent,
            data=body,
            ssl=access.tls if access.tls is not None else True,
            proxy=access.proxy,
            timeout=limits or self.timeouts.for_call(),
            allow_redirects=False,
            trace_request_ctx=(method, target, headers, body),
        )

    async def _trusted(
        self,
        opening: aiohttp.client._RequestContextManager,
        access: Access,
        stack: AsyncExitStack,
    ) -> aiohttp.ClientResponse:
        try:
            return await stack.enter_async_context(opening)
        except (aiohttp.ClientError, OSError) as failure:
            tls_error = await tls_error_for(failure, access, self._clock.now())
            if tls_error is None:
                raise
            raise tls_error from failure


def _target_of(call: ApiCall) -> str:
    if not call.query:
        return call.path
    return f"{call.path}?{URL.build(query=call.query).raw_query_string}"


def _asks_to_come_back(call: ApiCall, answer: Answer) -> bool:
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


def named_object_in(target: Target, response: aiohttp.ClientResponse, body: bytes) -> Json:
    """The object in a raw answer that was read already; raises `UnavailableError`."""
    answer = Answer(response.status, body, response.headers, str(response.url.origin()))
    try:
        _check_plain(answer)
        return read_named(body)
    except UNREADABLE as failure:
        raise _unreadable(target, answer, failure) from failure


async def _read(answer: Answer, read: Read[T]) -> T:
    _check_plain(answer)
    return await read(answer.body)


def _check_plain(answer: Answer) -> None:
    encoding = answer.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        said = encoding[:_LONGEST_TYPE] if encoding.isprintable() else "something"
        raise UnexpectedAnswerError(f"a body compressed with `{said}`, which was not requested")


def _unreadable(target: Target, answer: Answer, failure: BaseException) -> UnavailableError:
    """Says what came, and from where, but never what stood in it: that may be a secret."""
    if isinstance(failure, UnexpectedAnswerError):
        what = str(failure)
    elif not answer.body:
        what = "an empty body"
    else:
        what = f"{len(answer.body)} bytes of {_type_of(answer.headers)} that are not JSON"
    hint = GATEWAY_HINT
    if isinstance(failure, RecursionError):
        what, hint = "an object that is nested too deeply to be read", "edit or delete it"
    message = f"could not {target}: `{answer.server}` answered {answer.code} with {what}"
    return UnavailableError(message, hint=hint)


def check_json(target: Target, response: aiohttp.ClientResponse) -> None:
    """Raise where the headers of an answer say that it is not JSON."""
    said = _type_of(response.headers)
    if said != "application/json":
        where, code = response.url.origin(), response.status
        message = f"could not {target}: `{where}` answered {code} with {said}, not with JSON"
        raise UnavailableError(message, hint=GATEWAY_HINT)


def _type_of(headers: Mapping[str, str]) -> str:
    """The media type without its parameters, cut short: the peer chose its text."""
    said = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return said[:_LONGEST_TYPE] if said.isascii() and said.isprintable() and said else "no type"


def _unreachable(target: Target, failure: BaseException) -> UnavailableError:
    message = f"could not {target}: {why_unreachable(failure)}"
    return UnavailableError(message, is_timeout=isinstance(failure, TimeoutError))
