"""Decides which part of the proxy answers a request; reads and plain writes are answered here.

The order matters: discovery first, since it is most of what a cold client asks; then upgrades, which
may be a GET or a POST; then reads; then writes, of which those that may create an object get an owner.
"""

from __future__ import annotations

from functools import partial

from aiohttp import web

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import Client, Resource
from rolecall.proxy.adoption import Adoption, WasOwned, never_owned
from rolecall.proxy.answers import refusal
from rolecall.proxy.bodies import JSON
from rolecall.proxy.conditions import may_write_conditions, writes_conditions
from rolecall.proxy.creates import Creates, may_create
from rolecall.proxy.dependent_finder import DependentFinder, DependentSink
from rolecall.proxy.discovery_documents import DiscoveryDocuments, changes_kinds
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.forward import (
    Forwarder,
    OnBytes,
    body_to_send,
    pass_answer,
    receive_body,
)
from rolecall.proxy.read_only import why_refused
from rolecall.proxy.run_credentials import RunCredential
from rolecall.proxy.upgrades import join
from rolecall.proxy.world_requests import ask_world
from rolecall.reconcile import EventRecorder
from rolecall.settings import ProxySettings

_NO_IMPERSONATION = (
    "the operator does not pass `Impersonate-*` headers of plays, as they act with its own rights;"
    " remove `impersonate_user` and `impersonate_groups` from the task, or start the operator with"
    " `--allow-impersonation`"
)


class Routes:
    def __init__(
        self,
        settings: ProxySettings,
        client: Client,
        sink: DependentSink,
        clock: Clock,
        events: EventRecorder | None = None,
        was_owned: WasOwned = never_owned,
    ) -> None:
        self._injects = settings.inject_owner
        self._allows_impersonation = settings.allows_impersonation
        self._discovery = client.discovery
        self._forwarder = Forwarder(client)
        self._finder = DependentFinder(sink)
        self._documents = DiscoveryDocuments(self._forwarder, clock)
        self._adoption = Adoption(
            client,
            self._forwarder,
            self._finder,
            events,
            takes_all=settings.adopts,
            was_owned=was_owned,
        )
        self._creates = Creates(client, self._forwarder, self._finder, self._adoption)

    def forget_kinds(self) -> None:
        """Which kinds there are has changed."""
        self._documents.forget()

    def end(self, credential: RunCredential, cr: Json) -> None:
        """A run is over."""
        self._adoption.report(credential, cr)

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        if why := self._why_refused(exchange):
            return refusal(403, why)
        if self._documents.can_answer(exchange):
            return await self._documents.answer(exchange)
        if (world := exchange.credential.world) is not None:
            owns = self._gives_owner(exchange)
            return await ask_world(world, exchange, self._forwarder, gives_owner=owns)
        if exchange.is_upgrade:
            return await join(exchange, self._forwarder)
        if exchange.method in {"GET", "HEAD"}:
            return await self._read(exchange)
        write = self._write_checked if may_write_conditions(exchange) else self._write
        answer = await write(exchange)
        if changes_kinds(exchange):
            self._forget_kinds_of(exchange)
        return answer

    def _why_refused(self, exchange: Exchange) -> str:
        if exchange.impersonates and not self._allows_impersonation:
            return _NO_IMPERSONATION
        return why_refused(exchange) if exchange.credential.reads_only else ""

    async def _read(self, exchange: Exchange) -> web.StreamResponse:
        if self._gives_owner(exchange):
            self._finder.note_asked(exchange.credential.owner, exchange.info, exchange.info.name)
        search = await self._search_for(exchange)
        headers = exchange.headers
        if search is not None:
            # Compressed bytes cannot be searched, and the play is on this machine.
            headers = exchange.headers_with({"Accept-Encoding": "identity"})
        body = await body_to_send(exchange)
        async with self._forwarder.send(exchange, body, headers=headers) as response:
            if response.content_type != JSON or response.status != 200:
                search = None
            if response.status == 404 and response.content_type != JSON:
                self._forget_kinds_of(exchange)  # not the object is missing, but its kind
            return await pass_answer(exchange, response, on_chunk=search)

    async def _write(self, exchange: Exchange) -> web.StreamResponse:
        if self._gives_owner(exchange) and may_create(exchange):
            return await self._creates.answer(exchange)
        body = await body_to_send(exchange)
        async with self._forwarder.send(exchange, body) as response:
            is_good = response.status < 300 and exchange.info.is_resource
            is_kept = is_good and not exchange.is_dry_run(body)
            if not (is_kept and self._gives_owner(exchange)):
                return await pass_answer(exchange, response)
            note = partial(self._adoption.note_written, exchange, body, response.content_type)
            return await pass_answer(exchange, response, on_written=note)

    async def _write_checked(self, exchange: Exchange) -> web.StreamResponse:
        body = await receive_body(exchange)
        if why := await self._why_not_its_conditions(exchange, body):
            return refusal(422, why)
        async with self._forwarder.send(exchange, body) as response:
            return await pass_answer(exchange, response)

    async def _why_not_its_conditions(self, exchange: Exchange, body: bytes) -> str:
        resource = await self._find_resource(exchange)
        kind = (resource.gvk.group, resource.gvk.kind) if resource is not None else ("", "")
        if kind not in exchange.credential.conditions_kept or not writes_conditions(body):
            return ""
        return (
            f"`status.conditions` of {kind[1]} are the operator's; write another field of status, and"
            " of it alone, by a patch"
        )

    async def _search_for(self, exchange: Exchange) -> OnBytes | None:
        info = exchange.info
        if not self._gives_owner(exchange) or not info.is_about_objects or exchange.method != "GET":
            return None
        resource = await self._find_resource(exchange)
        if resource is None or not resource.is_watchable:
            return None
        namespace = info.namespace if resource.namespaced else ""
        return self._finder.search_for(exchange.credential, resource, namespace)

    def _gives_owner(self, exchange: Exchange) -> bool:
        """Whether what the play creates gets an owner.

        Not where that is switched off, nor for a CR that is in no cluster, nor for a play of admission.
        """
        credential = exchange.credential
        return self._injects and bool(credential.owner.uid) and not credential.reads_only

    async def _find_resource(self, exchange: Exchange) -> Resource | None:
        info = exchange.info
        try:
            return await self._discovery.by_plural(info.group, info.version, info.resource)
        except ClusterError:
            return None  # a read must not fail for what it does not need

    def _forget_kinds_of(self, exchange: Exchange) -> None:
        self._documents.forget()
        info = exchange.info
        self._discovery.forget(info.group, info.version)
        # The name of a CRD is `<plural>.<group>`, that of an APIService `<version>.<group>`.
        self._discovery.forget(info.name.partition(".")[2])
