"""The webhook server of one engine: its certificate, its registration at the API server, and its end.

Every replica serves, leading or not; the leader registers the webhooks. A replica serves as soon as it
has a certificate, and readiness waits for that. Readiness does not wait for the registration: a replica
that starts beside an older leader could not become ready before the leader ends, and the leader waits
for it.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rolecall.certificates import server_tls
from rolecall.errors import ClusterError, InputError, RolecallError
from rolecall.extending import Endpoints, EngineView
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.extensions.versions.webhooks.certificates import (
    Certificate,
    MountedCertificate,
    OwnCertificate,
)
from rolecall.extensions.versions.webhooks.publication import (
    WAY_OUT,
    Publication,
    WebhookReach,
    reach_of,
)
from rolecall.extensions.versions.webhooks.routes import Asked, OnConversion, WebhookRoutes
from rolecall.gvk import Gvk
from rolecall.kube import ForbiddenError
from rolecall.listening import Address, served
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_SELF_REVIEW = Gvk("authentication.k8s.io", "v1", "SelfSubjectReview")
# After something was written or went wrong. The first, too, as long as every API server of a cluster
# may take to learn of a new authority before that signs.
_SOON_S = 10.0
# How long requests still come after we said that we end: a Service learns of it late.
LINGER_IN_POD_S, LINGER_S = 5.0, 1.0
# Longer than the API server waits for an answer by itself would end the process too late.
_PATIENCE_S = 10.0
# Name of the Secret and the configurations where no Service gives its own.
_NAME = "rolecall-webhooks"
_NO_REACH = (
    "no webhook address is configured, so webhooks are not registered at the API server; set"
    " --webhook-service in a cluster, --webhook-url outside of one"
)


class WebhookServer:
    def __init__(self, engine: EngineView, asked: Asked, on_conversion: OnConversion) -> None:
        self._engine, self._asked = engine, asked
        self._flags = flags = engine.settings.extension(VersionFlags)
        self._tls = tls_for_webhooks(flags.client_ca)
        self._routes = WebhookRoutes(asked, self._find_own_user, engine.clock, on_conversion)
        self._publication = Publication(
            engine.leading_client, flags.service or _NAME, asked.conversions, asked.webhooks
        )
        self._certificate: Certificate | None = None
        self._reach: WebhookReach | None = None
        self._own_user = ""
        self._wrong = "has no certificate yet"
        self._logged = ""
        self._ends_at: float | None = None
        self._news = asyncio.Event()

    @asynccontextmanager
    async def opened(self, address: Address, endpoints: Endpoints) -> AsyncIterator[None]:
        """Serve while the context lasts, and as long after it as requests may still come."""
        app, tls = self._routes.app(), self._tls
        listener = served(
            app,
            address,
            what="webhooks",
            flag="webhook-bind-address",
            tls=tls,
            patience_s=_PATIENCE_S,
        )
        async with listener as port:
            try:
                await self._take_certificate(port)
                endpoints.ports["webhooks"] = port
                endpoints.checks["webhooks"] = self._why_not_ready
                endpoints.notes["webhooks"] = self._note
                converted = ((each.group, each.kind) for each in self._asked.conversions)
                endpoints.late_kinds.update(converted)
                yield
            finally:
                await self._linger()

    def _why_not_ready(self) -> str:
        """Why it is not ready; empty where it is."""
        return "this replica ends" if self._ends_at is not None else self._wrong

    def _note(self) -> str:
        """What people should know though it serves."""
        if isinstance(self._certificate, OwnCertificate) and self._reach is None:
            return _NO_REACH
        return "; ".join(filter(None, (self._logged, self._publication.note())))

    async def _take_certificate(self, port: int) -> None:
        """Take the certificate, once the port is known; what fails now is tried again by `run`."""
        mounted = MountedCertificate(self._flags.folder)
        if mounted.is_there:
            self._certificate = mounted
        else:
            api_host = self._engine.unfenced_client.credentials.server.host or ""
            self._reach = reach_of(self._engine.settings, api_host, port)
            self._certificate = OwnCertificate(
                self._engine.unfenced_client,
                self._engine.settings.namespace,
                self._flags.service or _NAME,
                self._reach.names if self._reach else ["localhost"],
                self._engine.clock,
            )
            if self._reach is None:
                _logger.warning("webhooks: %s", _NO_REACH)
        await self._refresh(self._certificate)

    def wake(self) -> None:
        """Look immediately: this replica became or ceased to be the one that registers webhooks."""
        self._news.set()

    async def run(self) -> None:
        """Look at certificate and API server until cancelled."""
        while True:
            self._news.clear()
            pause_s = await self.look()
            news = asyncio.create_task(self._news.wait())
            sleep = asyncio.create_task(self._engine.clock.sleep(pause_s))
            try:
                await asyncio.wait({news, sleep}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
                sleep.cancel()

    async def look(self) -> float:
        """Look once; returns after how many seconds to look again."""
        certificate, period_s = self._certificate, self._flags.period_s
        assert certificate is not None, "opened before"
        is_fine = await self._refresh(certificate)
        if is_fine and isinstance(certificate, OwnCertificate):
            is_fine = await self._register(certificate)
        return period_s if is_fine else min(period_s, _SOON_S)

    def begin_end(self) -> None:
        """Ask clients to stop sending requests; requests that still arrive get a response."""
        self._ends_at = self._ends_at or self._engine.clock.monotonic() + self._linger_s
        self._routes.is_ending = True

    async def _linger(self) -> None:
        """Wait until the API server no longer sends requests because it does not know that we end."""
        self.begin_end()
        assert self._ends_at is not None, "set above"
        await asyncio.sleep(max(0.0, self._ends_at - self._engine.clock.monotonic()))

    @property
    def _linger_s(self) -> float:
        return LINGER_IN_POD_S if self._engine.settings.is_in_pod else LINGER_S

    async def _refresh(self, certificate: Certificate) -> bool:
        try:
            await certificate.refresh(self._tls)
        except RolecallError as failure:
            self._say(failure)
            return False
        self._wrong = self._logged = ""
        return True

    async def _register(self, certificate: OwnCertificate) -> bool:
        if self._reach is None or not self._engine.election.leads():
            return True
        try:
            own_user = await self._find_own_user() if self._asked.webhooks else ""
            bundle = certificate.to_trust
            if not await self._publication.look(self._reach, bundle, own_user):
                return False
            await certificate.note_trusted(bundle)
        except ClusterError as failure:
            self._say(failure)
            return False
        return certificate.to_trust == bundle

    async def _find_own_user(self) -> str:
        """As the API server calls us; asked once."""
        if not self._own_user:
            body = {"apiVersion": _SELF_REVIEW.api_version, "kind": _SELF_REVIEW.kind}
            found = await self._engine.unfenced_client.create(
                _SELF_REVIEW, {**body, "metadata": {}}
            )
            user = (found.get("status") or {}).get("userInfo") or {}
            self._own_user = str(user.get("username", ""))
        return self._own_user

    def _say(self, failure: RolecallError) -> None:
        """Not ready only where there is nothing to show: what was shown before still holds."""
        if self._wrong:
            self._wrong = failure.message
        if failure.message != self._logged:
            self._logged = failure.message
            hint = WAY_OUT if isinstance(failure, ForbiddenError) else failure.hint
            _logger.error(
                "could not take the certificate for webhooks; tried again",
                extra=log_fields(why=failure.message, hint=hint),
            )


def tls_for_webhooks(client_ca: Path | None) -> ssl.SSLContext:
    """Raises `InputError` for authorities that cannot be read."""
    context = server_tls()
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except OSError as failure:  # of TLS, too
            raise InputError(
                f"--webhook-client-ca: cannot read certificates in `{client_ca}`: {failure}",
                hint="name the PEM file of the authority of the API server's client certificate",
            ) from failure
        context.verify_mode = ssl.CERT_REQUIRED
    return context
