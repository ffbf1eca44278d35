"""The proxy itself: the plays' only way to the API server.

Promise: listens on loopback alone; answers only clients with the credential of a run in flight;
reads pass through live, creates get their owner, discovery comes from memory. What goes wrong on the
way is answered as a `Status` with its cause. Bodies, credentials and object names are never logged.

`localhost` is two addresses. Clients try `::1` first where there is IPv6, so both are taken, with one
port: otherwise another process could listen on the free one and be sent passwords.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from rolecall.acting import RightToAct
from rolecall.clock import Clock, SystemClock
from rolecall.kube import Client
from rolecall.listening import HttpLimits, LimitedListener, bound_sockets, port_error
from rolecall.log_fields import log_fields
from rolecall.proxy.adoption import WasOwned, never_owned
from rolecall.proxy.answers import last_refusal, refusal, unauthorized
from rolecall.proxy.creates import verbs_needed
from rolecall.proxy.dependent_finder import DependentSink
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.failures import EXPECTED, refusal_for
from rolecall.proxy.following import FollowRun, followed, followed_by_none
from rolecall.proxy.framing import refused_framing
from rolecall.proxy.identity import Owner
from rolecall.proxy.kubeconfig import write_kubeconfig
from rolecall.proxy.request_info import has_dot_segment
from rolecall.proxy.request_record import RequestRecord
from rolecall.proxy.routes import Routes
from rolecall.proxy.run_credentials import (
    ProcessCredential,
    RunCredential,
    RunCredentials,
)
from rolecall.proxy.worlds import World
from rolecall.reconcile import BegunRun, EventRecorder, RunAccess
from rolecall.settings import ProxySettings
from rolecall.watches import Watch

_logger = logging.getLogger(__name__)
_IPV4, _IPV6 = "127.0.0.1", "::1"
# Label selectors in URLs and identities in headers outgrow aiohttp's 8 KB.
_LONGEST_LINE = 64 * 1024
# A play may have many watches open; a body that stands still is ended by `body_to_send`.
_LIMITS = HttpLimits(connections=1024, head_s=30.0, body_s=600.0)
_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
_FREE_PORT_ATTEMPTS = 20
_SHUTDOWN_S = 1.0  # for answers that are being written; not 0, which means without limit


@dataclass(frozen=True, slots=True)
class ProcessAccess:
    """How a process reaches the API server; as its user name it says for which CR it asks."""

    kubeconfig: Path
    port: int
    password: str = field(repr=False)


class Proxy:
    def __init__(  # noqa: PLR0913 - each is a part, connected by name
        self,
        settings: ProxySettings,
        client: Client,
        *,
        dependents: DependentSink,
        clock: Clock | None = None,
        events: EventRecorder | None = None,
        was_owned: WasOwned = never_owned,
        follow: FollowRun = followed_by_none,
    ) -> None:
        self._settings = settings
        self._follow = follow
        self._clock = clock or SystemClock()
        self._run_credentials = RunCredentials()
        self._routes = Routes(settings, client, dependents, self._clock, events, was_owned)
        self._record = RequestRecord(settings.record) if settings.record is not None else None
        self._server: web.Server | None = None
        self._listener: LimitedListener | None = None

    @property
    def port(self) -> int:
        """The port that was really taken."""
        if self._listener is None:
            raise RuntimeError("the proxy does not listen")
        return self._listener.port

    @property
    def is_listening(self) -> bool:
        """Whether plays can reach the API server."""
        return self._listener is not None

    async def start(self) -> None:
        """Begin to listen; raises `InputError` where the port is taken."""
        self._server = web.Server(
            self._serve,
            handler_cancellation=True,  # a watch whose reader left must not stay open
        )
        self._listener = LimitedListener(
            self._server,
            _loopback_sockets(self._settings.port),
            _LIMITS,
            access_log=None,
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        _logger.info("proxy is listening", extra=log_fields(port=self.port))

    async def stop(self) -> None:
        """Cut what is open and stop listening."""
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
        self._run_credentials.revoke_all()
        if self._server is not None:
            self._server.pre_shutdown()  # idle connections; those in use were just cut
            await self._server.shutdown(_SHUTDOWN_S)
            self._server = None
        if self._record is not None:
            self._record.close()
            self._record = None

    def forget_kinds(self) -> None:
        """A CRD changed: read discovery anew."""
        self._routes.forget_kinds()

    @asynccontextmanager
    async def issue_access(
        self, run_id: str, cr: dict[str, Any], watch: Watch
    ) -> AsyncIterator[RunAccess]:
        """A kubeconfig that is valid, and whose writes are owned by `cr`, while the context lasts."""
        is_ending, owner = bool(cr["metadata"].get("deletionTimestamp")), Owner.of(cr)
        follower = self._follow(BegunRun(run_id, cr, watch))
        credential = self._run_credentials.issue(
            run_id, owner, watch, is_ending=is_ending, follower=follower
        )
        async with self._access_by(credential, cr) as access:
            yield access

    @asynccontextmanager
    async def issue_read_access(
        self, run_id: str, cr: dict[str, Any], watch: Watch
    ) -> AsyncIterator[RunAccess]:
        """The same for a play of admission: nothing that it asks for may have a side effect."""
        credential = self._run_credentials.issue(run_id, Owner.of(cr), watch, reads_only=True)
        async with self._access_by(credential, cr) as access:
            yield access

    @asynccontextmanager
    async def issue_access_to_world(
        self, run_id: str, cr: dict[str, Any], watch: Watch, world: World
    ) -> AsyncIterator[RunAccess]:
        """The same for a run without effect: `world` answers the play, and is the one who may write."""
        follower = self._follow(BegunRun(run_id, cr, watch, is_without_effect=True))
        credential = self._run_credentials.issue(
            run_id, Owner.of(cr), watch, follower=follower, world=world
        )
        async with self._access_by(credential, cr) as access:
            yield access

    @asynccontextmanager
    async def issue_access_to_process(
        self, name: str, watches: Sequence[Watch], hand: RightToAct
    ) -> AsyncIterator[ProcessAccess]:
        """For a process that acts for CRs of these watches, as long as the context lasts.

        `hand`: the right by which it writes. The conditions of these CRs are not its to write.
        """
        kinds = {watch.gvk: watch for watch in watches}
        credential = ProcessCredential(name, kinds, hand)
        self._run_credentials.issue_to_process(credential)
        kubeconfig = write_kubeconfig(credential, self.port, self._settings.folder)
        try:
            yield ProcessAccess(kubeconfig, self.port, credential.password)
        finally:
            self._run_credentials.revoke(credential)
            kubeconfig.unlink(missing_ok=True)

    @asynccontextmanager
    async def _access_by(
        self, credential: RunCredential, cr: dict[str, Any]
    ) -> AsyncIterator[RunAccess]:
        kubeconfig: Path | None = None
        try:
            kubeconfig = write_kubeconfig(credential, self.port, self._settings.folder)
            missing_right, seen = credential.refused_rights.hint_for, credential.seen_secrets.take
            yield RunAccess(kubeconfig, missing_right, credential.follower, seen)
        finally:
            self._run_credentials.revoke(credential)
            self._routes.end(credential, cr)
            if kubeconfig is not None:
                kubeconfig.unlink(missing_ok=True)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if (refused := refused_framing(request)) is not None:
            return last_refusal(*refused)
        credential = self._run_credentials.find(request.headers.get("Authorization", ""))
        if credential is None:
            return unauthorized()
        if has_dot_segment(request.rel_url.raw_path):
            return refusal(400, "a path with `.` or `..` segments was refused, encoded ones too")
        exchange = Exchange.of(request, credential, self._clock.monotonic())
        with credential.serving(), followed(exchange.follower) as answered:
            answer = await self._answer(exchange)
            answered(answer)
        if answer.status == 403 and isinstance(answer, web.Response):
            credential.refused_rights.note(answer.body)
        if isinstance(answer, web.Response):
            credential.seen_secrets.note(exchange.info, answer.body)
        self._write_down(exchange, credential, answer.status)
        return answer

    async def _answer(self, exchange: Exchange) -> web.StreamResponse:
        try:
            return await self._routes.answer(exchange)
        except EXPECTED as failure:
            return refusal_for(failure)
        except (
            Exception
        ) as failure:  # a bug of ours: only this request fails, and its answer says so
            _logger.exception("internal error: a request of a play failed", extra=_about(exchange))
            return refusal(500, f"internal error of the proxy: {type(failure).__name__}")

    def _write_down(self, exchange: Exchange, credential: RunCredential, code: int) -> None:
        if self._record is not None:
            verbs = verbs_needed(exchange, code) if self._settings.inject_owner else None
            for verb in verbs or [exchange.info.verb]:
                self._record.write(credential.watch.gvk, verb, exchange.info, code)
        if _logger.isEnabledFor(logging.DEBUG):
            _logger.debug("request", extra=_about(exchange, code=code))


def _about(exchange: Exchange, **more: object) -> dict[str, dict[str, object]]:
    info = exchange.info
    return log_fields(
        run=exchange.credential.run_id, verb=info.verb, resource=info.resource, **more
    )


def _loopback_sockets(port: int) -> list[socket.socket]:
    for attempts_left in reversed(range(_FREE_PORT_ATTEMPTS)):
        try:
            return _sockets_on_both(port)
        except OSError as failure:
            # With a free port, the other address may have it taken: try another.
            if port or not attempts_left:
                raise port_error("the proxy", port, "proxy-port", failure) from failure
    raise AssertionError("the last attempt returns or raises")


def _sockets_on_both(port: int) -> list[socket.socket]:
    first = bound_sockets(_IPV4, port)
    port = first[0].getsockname()[1]
    try:
        return [*first, *bound_sockets(_IPV6, port)]
    except OSError as failure:
        if failure.errno in _NO_SUCH_ADDRESS:
            return first  # a machine without IPv6
        first[0].close()
        raise
