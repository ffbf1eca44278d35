"""Gives every object that a play creates its owner: POST, server-side apply, and PUT alike.

Promise: an object is created with its owner in one step, or not at all, so an engine that dies leaves
nothing unowned. An object that exists already is never adopted: it is used as it is, and keeps the
owners that it has. Access reviews and other kinds that cannot be read are left alone.

A POST always creates, so it is stamped and sent. An apply or a PUT creates only where nothing is there,
which is asked first (metadata only); where the answer is anything but "here it is" or "not found", it
is the answer to the play. Looking at the code of the answer (201) and adding the owner afterwards was
rejected: it saves the read, and loses the owner whenever the second step does not happen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from rolecall.gvk import Gvk
from rolecall.kube import Client, Resource
from rolecall.proxy.answers import refusal
from rolecall.proxy.bodies import APPLY, Body, can_read, read_body
from rolecall.proxy.dependents import Dependents
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.forward import Forwarder, pass_rest, read_body_of, read_short, whole_answer
from rolecall.proxy.owners import (
    Additions,
    Tie,
    kept_by_apply,
    kept_by_replace,
    owner_additions,
    tie_for,
)
from rolecall.proxy.protobuf import UnreadableBodyError
from rolecall.proxy.request_path import RequestPath

_METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_CBOR_APPLY = "application/apply-patch+cbor"


@dataclass(frozen=True, slots=True)
class _Stamp:
    """How the object of one request is tied to its owner."""

    resource: Resource
    tie: Tie
    namespace: str


def may_create(exchange: Exchange) -> bool:
    """Whether a request could bring an object into being."""
    if not exchange.path.is_whole_object:
        return False
    match exchange.method:
        case "POST":
            return True
        case "PUT":
            return bool(exchange.path.name)
        case "PATCH":
            return exchange.media_type in {APPLY, _CBOR_APPLY}
    return False


def verbs_needed(exchange: Exchange, code: int) -> list[str]:
    """What RBAC must allow for a request, the reads of our own included."""
    verbs = [exchange.path.verb]
    if may_create(exchange) and exchange.method != "POST":
        verbs.append("get")
        if code == 201:
            verbs.append("create")
    return verbs


class Creates:
    """Stamps owners on what passes."""

    def __init__(self, client: Client, forwarder: Forwarder, dependents: Dependents) -> None:
        self._discovery = client.discovery
        self._forwarder = forwarder
        self._dependents = dependents

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Pass a request on that may create an object."""
        path = exchange.path
        resource = await self._discovery.by_plural(path.group, path.version, path.resource)
        data = await read_body_of(exchange)
        if resource is not None and not resource.is_watchable:
            return await self._pass(exchange, data, None)
        if not can_read(exchange.media_type):
            return refusal(
                415,
                f"a `{exchange.media_type}` body could not be given its owner;"
                " send JSON, YAML or protobuf",
            )
        try:
            body = read_body(exchange.media_type, data)
        except UnreadableBodyError:
            return await self._pass(exchange, data, None)  # for the API server to judge
        stamp = _stamp_for(exchange, resource or _unseen(path, body), body)
        if exchange.method == "POST":
            additions = owner_additions(body.metadata, exchange.lease.owner, stamp.tie)
            return await self._pass(exchange, _added(data, body, additions), stamp)
        return await self._upsert(exchange, data, body, stamp)

    async def _upsert(
        self, exchange: Exchange, data: bytes, body: Body, stamp: _Stamp
    ) -> web.StreamResponse:
        async with self._forwarder.read(exchange, _METADATA_ONLY) as found:
            answer = await found.read()
            if found.status not in {200, 404}:
                return whole_answer(found, answer)
        if found.status == 404:
            additions = owner_additions(body.metadata, exchange.lease.owner, stamp.tie)
            return await self._pass(exchange, _added(data, body, additions), stamp)
        if exchange.method == "PUT":
            additions = kept_by_replace(_metadata_of(answer), body.metadata)
        else:
            field_manager = exchange.request.rel_url.query.get("fieldManager", "")
            additions = kept_by_apply(_metadata_of(answer), body.metadata, field_manager)
        return await self._pass(exchange, _added(data, body, additions), None)

    async def _pass(
        self, exchange: Exchange, data: bytes, stamp: _Stamp | None
    ) -> web.StreamResponse:
        async with self._forwarder.send(exchange, data) as response:
            answer, is_whole = await read_short(response)
            is_kept = response.status < 300 and not exchange.is_dry_run
            if stamp is not None and is_kept and stamp.resource.gvk.kind:
                self._dependents.note_created(
                    exchange.lease, stamp.resource, stamp.tie, stamp.namespace
                )
            if not is_whole:
                return await pass_rest(exchange, response, answer)
            if is_kept:
                self._dependents.note_write(response.content_type, answer)
            return whole_answer(response, answer)


def _unseen(path: RequestPath, body: Body) -> Resource:
    """A kind that discovery does not show: just installed, or there is none and a 404 follows.

    The API server serves a new kind a moment before it shows it, and an owner must not be missed.
    """
    gvk = Gvk(path.group, path.version, body.kind)
    return Resource(gvk, plural=path.resource, namespaced=bool(path.namespace))


def _stamp_for(exchange: Exchange, resource: Resource, body: Body) -> _Stamp:
    namespace = ""
    if resource.namespaced:
        namespace = exchange.path.namespace or str(body.metadata.get("namespace") or "")
    owner = exchange.lease.owner
    tie = tie_for(owner, is_namespaced=resource.namespaced, namespace=namespace)
    return _Stamp(resource, tie, namespace)


def _added(data: bytes, body: Body, additions: Additions) -> bytes:
    return body.with_additions(additions) if additions else data


def _metadata_of(answer: bytes) -> dict[str, Any]:
    metadata = json.loads(answer).get("metadata")
    return metadata if isinstance(metadata, dict) else {}
