"""Gives every object that a play creates its owner: POST, server-side apply, and PUT alike.

Promise: an object is created with its owner in one step, or not at all, so an engine that dies leaves
nothing unowned. An object that exists already keeps the owners that it has; see `adoption.py` for one
without. Access reviews and other kinds that cannot be read are left alone.

A POST always creates, so it gets its owner and is sent. An apply or a PUT creates only where nothing is
there, which is asked first (metadata only); where the answer is anything but "here it is" or "not
found", it is the answer to the play. Looking at the code of the answer (201) and adding the owner
afterwards was rejected: it saves the read, and loses the owner whenever the second step does not
happen.

A create that the API server refuses because something else was written at the same time, as it does
where a quota is counted, is sent again: nothing was made, and kubernetes.core takes every 409 to a
create for "there already", so the run would go on, and succeed, without its object.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from aiohttp import web

from rolecall.gvk import Gvk
from rolecall.kube import Client, Resource, Target, named_object_in
from rolecall.proxy.adoption import Adoption
from rolecall.proxy.answers import refusal
from rolecall.proxy.bodies import APPLY, JSON, Body, can_read, parse_body
from rolecall.proxy.dependent_finder import DependentFinder
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.forward import Forwarder, pass_answer, receive_body, whole_answer
from rolecall.proxy.owners import (
    Additions,
    Tie,
    kept_by_apply,
    kept_by_replace,
    owner_additions,
    tie_for,
)
from rolecall.proxy.protobuf import UnreadableBodyError
from rolecall.proxy.request_info import RequestInfo

_METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_CBOR_APPLY = "application/apply-patch+cbor"
# Each time, the API server itself has tried several times before it says so.
_MORE_TRIES = 2


@dataclass(frozen=True, slots=True)
class _NewDependent:
    """The dependent that a request may create: its resource, namespace and tie."""

    resource: Resource
    tie: Tie
    namespace: str


def may_create(exchange: Exchange) -> bool:
    """Whether a request could bring an object into being."""
    if not exchange.info.is_about_objects:
        return False
    match exchange.method:
        case "POST":
            return True
        case "PUT":
            return bool(exchange.info.name)
        case "PATCH":
            return exchange.media_type in {APPLY, _CBOR_APPLY}
    return False


def verbs_needed(exchange: Exchange, code: int) -> list[str]:
    """What RBAC must allow for a request, the reads of our own included."""
    verbs = [exchange.info.verb]
    if may_create(exchange) and exchange.method != "POST":
        verbs.append("get")
        if code == 201:
            verbs.append("create")
    return verbs


class Creates:
    def __init__(
        self, client: Client, forwarder: Forwarder, finder: DependentFinder, adoption: Adoption
    ) -> None:
        self._discovery = client.discovery
        self._forwarder = forwarder
        self._finder = finder
        self._adoption = adoption

    async def answer(self, exchange: Exchange) -> web.StreamResponse:
        """Pass a request on that may create an object."""
        info = exchange.info
        resource = await self._discovery.by_plural(info.group, info.version, info.resource)
        data = await receive_body(exchange)
        if resource is not None and not resource.is_watchable:
            return await self._pass(exchange, data, None)
        if not can_read(exchange.media_type):
            return refusal(
                415,
                f"a `{exchange.media_type}` body was refused, because no owner"
                " can be added to it; send JSON, YAML or protobuf",
            )
        try:
            body = parse_body(exchange.media_type, data)
        except UnreadableBodyError:
            return await self._pass(exchange, data, None)  # for the API server to judge
        created = _dependent_for(exchange, resource or _unseen(info, body), body)
        if exchange.method == "POST":
            additions = owner_additions(body.metadata, exchange.credential.owner, created.tie)
            return await self._pass(exchange, _added(data, body, additions), created)
        return await self._upsert(exchange, data, body, created)

    async def _upsert(
        self, exchange: Exchange, data: bytes, body: Body, created: _NewDependent
    ) -> web.StreamResponse:
        async with self._forwarder.read(exchange, _METADATA_ONLY) as found:
            answer = await found.read()
            if found.status != 200 and not _is_not_found(found):
                return whole_answer(found, answer)
        if found.status == 404:
            additions = owner_additions(body.metadata, exchange.credential.owner, created.tie)
            return await self._pass(exchange, _added(data, body, additions), created)
        target = Target("get", created.resource, created.namespace, exchange.info.name)
        metadata: dict[str, Any] = named_object_in(target, found, answer)["metadata"]
        if exchange.method == "PUT":
            additions = kept_by_replace(metadata, body.metadata)
        else:
            field_manager = exchange.request.rel_url.query.get("fieldManager", "")
            additions = kept_by_apply(metadata, body.metadata, field_manager)
        return await self._pass(exchange, _added(data, body, additions), None)

    async def _pass(
        self,
        exchange: Exchange,
        data: bytes,
        created: _NewDependent | None,
        more_tries: int = _MORE_TRIES,
    ) -> web.StreamResponse:
        """Send a request on; `created` is None where no dependent is created."""
        async with self._forwarder.send(exchange, data) as response:
            if not (exchange.method == "POST" and response.status == 409 and more_tries):
                return await self._answered(exchange, data, created, response)
            refused = await response.read()
            if not _has_lost_a_race(refused):
                return whole_answer(response, refused)
        return await self._pass(exchange, data, created, more_tries - 1)

    async def _answered(
        self,
        exchange: Exchange,
        data: bytes,
        created: _NewDependent | None,
        response: aiohttp.ClientResponse,
    ) -> web.StreamResponse:
        is_kept = response.status < 300 and not exchange.is_dry_run(data)
        # Without a kind: protobuf of one that discovery does not show yet.
        if created is not None and is_kept and created.resource.gvk.kind:
            self._finder.note_created(
                exchange.credential, created.resource, created.tie, created.namespace
            )
        note = None
        if is_kept:
            noted = self._adoption.note_written
            note = partial(noted, exchange, data, response.content_type)
        return await pass_answer(exchange, response, on_written=note)


def _unseen(info: RequestInfo, body: Body) -> Resource:
    """A kind that discovery does not show: just installed, or there is none and a 404 follows.

    The API server serves a new kind a moment before it shows it, and an owner must not be missed.
    """
    gvk = Gvk(info.group, info.version, body.kind)
    return Resource(gvk, plural=info.resource, namespaced=bool(info.namespace))


def _dependent_for(exchange: Exchange, resource: Resource, body: Body) -> _NewDependent:
    namespace = ""
    if resource.namespaced:
        namespace = exchange.info.namespace or str(body.metadata.get("namespace") or "")
    owner = exchange.credential.owner
    tie = tie_for(owner, is_namespaced=resource.namespaced, namespace=namespace)
    return _NewDependent(resource, tie, namespace)


def _added(data: bytes, body: Body, additions: Additions) -> bytes:
    return body.with_additions(additions) if additions else data


def _is_not_found(found: aiohttp.ClientResponse) -> bool:
    """A 404 as JSON comes from the API server: no such object. A gateway's page proves nothing."""
    return found.status == 404 and found.content_type == JSON


def _has_lost_a_race(answer: bytes) -> bool:
    """Whether a 409 says that something was modified meanwhile, and not that the object is there."""
    try:
        status = json.loads(answer)
    except (ValueError, RecursionError):
        return False
    return isinstance(status, dict) and status.get("reason") == "Conflict"
