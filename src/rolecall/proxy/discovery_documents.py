"""Keeps the API server's discovery documents, which every client that starts cold asks for.

Promise: within one run, a document is handed out from memory at most once. A client that reads it a
second time missed a kind, so it gets the truth, and memory gets it too. So a kind that a play installed
is seen by its next task, whatever is kept here. In addition everything is forgotten when a CRD or an
APIService is written through the proxy, or when the engine sees a changed one, and nothing is kept
for a moment after that, since the API server takes a while to serve a new kind.

Only discovery proper is kept, and of it only what can be read: a page that a gateway answered with
reaches the run that asked, as any answer does, and no other. OpenAPI was rejected: megabytes, and
kubectl keeps it on disk itself.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from rolecall.clock import Clock
from rolecall.proxy.bodies import JSON, PROTOBUF
from rolecall.proxy.exchange import Exchange, end_to_end
from rolecall.proxy.forward import Forwarder, pass_answer
from rolecall.proxy.protobuf import MAGIC

# Bounds how long a kind that others installed stays unseen by a client that never looks twice.
_KEPT_S = 30.0
_SETTLING_S = 5.0
# Documents are some KB each; the bound is for plays that make up queries.
_MOST_BYTES = 4 * 1024 * 1024
_KIND_SOURCES = frozenset(
    {
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
    }
)
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})

_Place = tuple[str, str]  # target and `Accept`, which chooses between two formats


@dataclass(frozen=True, slots=True)
class _Document:
    body: bytes
    headers: tuple[tuple[str, str], ...]
    read_at: float


def changes_kinds(exchange: Exchange) -> bool:
    """Whether a request may change which kinds there are."""
    info = exchange.info
    return info.verb in _WRITES and (info.group, info.resource) in _KIND_SOURCES


class DiscoveryDocuments:
    """Discovery documents, as they were read last."""

    def __init__(self, forwarder: Forwarder, clock: Clock) -> None:
        self._forwarder = forwarder
        self._clock = clock
        self._kept: OrderedDict[_Place, _Document] = OrderedDict()
        self._settles_at = float("-inf")

    def forget(self) -> None:
        """Which kinds there are has changed, or will in a moment."""
        self._kept.clear()
        self._settles_at = self._clock.monotonic() + _SETTLING_S

    def can_answer(self, exchange: Exchange) -> bool:
        """Whether a request reads a discovery document that is the same for every user."""
        if exchange.method != "GET" or exchange.info.is_resource:
            return False
        names = {name.lower() for name in exchange.headers}
        if "if-none-match" in names or any(name.startswith("impersonate-") for name in names):
            return False
        parts = exchange.info.path.strip("/").split("/")
        longest = {"version": 1, "api": 2, "apis": 3}.get(parts[0], 0)
        return len(parts) <= longest

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Answer from memory, or from the API server and keep what it said."""
        place = (exchange.target, exchange.headers.get("Accept", ""))
        kept = self._kept.get(place)
        seen = exchange.credential.seen_documents
        now = self._clock.monotonic()
        if kept is not None and place not in seen and now - kept.read_at < _KEPT_S:
            seen.add(place)
            return web.Response(body=kept.body, headers=kept.headers)
        seen.add(place)
        return await self._read(exchange, place, now)

    async def _read(self, exchange: Exchange, place: _Place, now: float) -> web.StreamResponse:
        headers = exchange.headers_with({"Accept-Encoding": "identity"})
        async with self._forwarder.send(exchange, None, headers=headers) as response:

            def keep(body: bytes) -> None:
                # Read before a call of `forget`: what came may be older than that.
                if now >= self._settles_at and _is_sound(response, body):
                    self._keep(place, _Document(body, _headers_of(response), now))

            return await pass_answer(exchange, response, on_whole=keep)

    def _keep(self, place: _Place, document: _Document) -> None:
        self._kept[place] = document
        self._kept.move_to_end(place)
        while sum(len(document.body) for document in self._kept.values()) > _MOST_BYTES:
            self._kept.popitem(last=False)


def _headers_of(response: aiohttp.ClientResponse) -> tuple[tuple[str, str], ...]:
    headers = end_to_end(response.headers)
    headers.popall("Content-Length", None)
    headers.popall("Date", None)
    return tuple(headers.items())


def _is_sound(response: aiohttp.ClientResponse, body: bytes) -> bool:
    """Whether this is a discovery document, and not what something on the way said instead."""
    if response.status != 200:
        return False
    if response.content_type == PROTOBUF:
        return body.startswith(MAGIC)
    try:
        return response.content_type == JSON and isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False
