"""Decides which part of the proxy answers a request; reads and plain writes are answered here.

The order matters: discovery first, since it is most of what a cold client asks; then upgrades, which
may be a GET or a POST; then whatever may create an object; then the rest, which passes through.
"""

from __future__ import annotations

from aiohttp import web

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.kube import Client, Resource
from rolecall.proxy.bodies import JSON
from rolecall.proxy.creates import Creates, may_create
from rolecall.proxy.dependents import Dependents, DependentSink
from rolecall.proxy.documents import Documents, changes_kinds
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.forward import (
    Forwarder,
    OnChunk,
    pass_answer,
    pass_body,
    pass_rest,
    read_short,
    whole_answer,
)
from rolecall.proxy.upgrades import join
from rolecall.settings import ProxySettings


class Routes:
    """Everything behind the door."""

    def __init__(
        self, settings: ProxySettings, client: Client, sink: DependentSink, clock: Clock
    ) -> None:
        self._injects = settings.inject_owner
        self._discovery = client.discovery
        self._forwarder = Forwarder(client)
        self._dependents = Dependents(sink)
        self._documents = Documents(self._forwarder, clock)
        self._creates = Creates(client, self._forwarder, self._dependents)

    def forget_kinds(self) -> None:
        """Which kinds there are has changed."""
        self._documents.forget()

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Answer one request."""
        if self._documents.can_answer(exchange):
            return await self._documents.answer(exchange)
        if exchange.is_upgrade:
            return await join(exchange, self._forwarder)
        if exchange.method in {"GET", "HEAD"}:
            return await self._read(exchange)
        answer = await self._write(exchange)
        if changes_kinds(exchange):
            self._forget_kinds_of(exchange)
        return answer

    async def _read(self, exchange: Exchange) -> web.StreamResponse:
        search = await self._search_for(exchange)
        headers = exchange.headers
        if search is not None:
            # Compressed bytes tell nothing, and the play is next door.
            headers = exchange.headers_with({"Accept-Encoding": "identity"})
        body = await pass_body(exchange)
        async with self._forwarder.send(exchange, body, headers=headers) as response:
            if response.content_type != JSON or response.status != 200:
                search = None
            if response.status == 404 and response.content_type != JSON:
                self._forget_kinds_of(exchange)  # not the object is missing, but its kind
            return await pass_answer(exchange, response, search)

    async def _write(self, exchange: Exchange) -> web.StreamResponse:
        if self._owns(exchange) and may_create(exchange):
            return await self._creates.answer(exchange)
        body = await pass_body(exchange)
        async with self._forwarder.send(exchange, body) as response:
            if exchange.is_endless or not self._owns(exchange):
                return await pass_answer(exchange, response)
            answer, is_whole = await read_short(response)
            if not is_whole:
                return await pass_rest(exchange, response, answer)
            if response.status < 300 and exchange.path.is_resource and not exchange.is_dry_run:
                self._dependents.note_write(response.content_type, answer)
            return whole_answer(response, answer)

    async def _search_for(self, exchange: Exchange) -> OnChunk | None:
        path = exchange.path
        if not self._owns(exchange) or not path.is_whole_object or exchange.method != "GET":
            return None
        resource = await self._find_resource(exchange)
        if resource is None or not resource.is_watchable:
            return None
        namespace = path.namespace if resource.namespaced else ""
        return self._dependents.search_for(exchange.lease, resource, namespace)

    def _owns(self, exchange: Exchange) -> bool:
        return self._injects and bool(exchange.lease.owner.uid)

    async def _find_resource(self, exchange: Exchange) -> Resource | None:
        path = exchange.path
        try:
            return await self._discovery.by_plural(path.group, path.version, path.resource)
        except ClusterError:
            return None  # a read must not fail for what it does not need

    def _forget_kinds_of(self, exchange: Exchange) -> None:
        self._documents.forget()
        path = exchange.path
        self._discovery.forget(path.group, path.version)
        # The name of a CRD is `<plural>.<group>`, that of an APIService `<version>.<group>`.
        self._discovery.forget(path.name.partition(".")[2])
