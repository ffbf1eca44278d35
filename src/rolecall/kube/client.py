"""Typed calls to the API server: what every room uses to read and write objects.

Promise: objects are always live, nothing is cached but which kinds exist. Errors come by meaning
(see `errors`). A kind whose path vanished is looked up anew the next time. Names are the API's own
verbs; every write is the caller's decision, nothing is added to what is sent.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from rolecall.clock import Clock, SystemClock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube.answers import read_named, read_object
from rolecall.kube.connections import Connections, Fence
from rolecall.kube.credentials import Credentials
from rolecall.kube.discovery import Discovery
from rolecall.kube.errors import GoneError, NoSuchKindError, NotFoundError, Target
from rolecall.kube.later import aiohttp
from rolecall.kube.lists import Page, decode_page
from rolecall.kube.resource import Resource
from rolecall.kube.streams import WatchEvent, decode_events
from rolecall.kube.transport import ApiCall, OnCall, Read, Timeouts, Transport

T = TypeVar("T")

PAGE_SIZE = 500
# The server ends a watch after this long; without it, it picks 30 to 60 minutes at random.
_WATCH_S = 600
_META = "g=meta.k8s.io;v=v1"
_METADATA = f"application/json;as=PartialObjectMetadata;{_META}"
_METADATA_LIST = f"application/json;as=PartialObjectMetadataList;{_META}"


class Client:
    """One cluster, under one set of credentials."""

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
        clock = clock or SystemClock()
        self.credentials = credentials
        self._transport = Transport(
            credentials,
            clock=clock,
            timeouts=timeouts,
            on_call=on_call,
            fence=fence,
            connections=connections,
        )
        self.discovery = Discovery(self.read_path, clock)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def resource_for(self, gvk: Gvk) -> Resource:
        """How the server calls a kind; raises `NoSuchKindError`."""
        return await self.discovery.by_gvk(gvk)

    async def read_path(self, path: str) -> Json:
        """GET a document that is no object, such as `/version`."""
        call = ApiCall(Target("get", path=path), "GET", path)
        try:
            return await self._transport.send(call, _any_object)
        except NoSuchKindError as failure:
            raise NotFoundError(failure.message, code=404, target=call.target) from failure

    async def read_bytes(self, path: str, *, accept: str = "application/json") -> bytes:
        """GET whatever is at a path, query included, as it comes; empty: nothing is there."""
        call = ApiCall(Target("get", path=path), "GET", path, accept=accept)
        try:
            return await self._transport.send(call, _bytes)
        except (NoSuchKindError, NotFoundError):
            return b""

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        target = await self._target("get", gvk, namespace, name)
        return await self._call(target, "GET")

    async def create(self, gvk: Gvk, body: Mapping[str, Any], *, is_trial: bool = False) -> Json:
        """POST an object; `generateName` works. Of a trial nothing is stored."""
        namespace = str(body["metadata"].get("namespace") or "")
        target = await self._target("create", gvk, namespace, "")
        # A review has no name, and neither has its answer.
        is_named = bool(body["metadata"].get("name") or body["metadata"].get("generateName"))
        read = _named_object if is_named else _any_object
        query = {"dryRun": "All"} if is_trial else {}
        return await self._sent(ApiCall(target, "POST", _path_of(target), query, body), read)

    async def replace(self, gvk: Gvk, body: Mapping[str, Any], *, subresource: str = "") -> Json:
        """PUT an object or a subresource; conflict-safe through its `resourceVersion`."""
        metadata = body["metadata"]
        target = await self._target(
            "update", gvk, str(metadata.get("namespace") or ""), metadata["name"], subresource
        )
        return await self._call(target, "PUT", body=body)

    async def merge_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
        is_trial: bool = False,
    ) -> Json:
        """Merge-patch an object or a subresource; a `resourceVersion` in the patch is honoured.

        Of a trial nothing is stored; the API server says what it would answer.
        """
        target = await self._target("patch", gvk, namespace, name, subresource)
        query = {"dryRun": "All"} if is_trial else {}
        call = ApiCall(
            target, "PATCH", _path_of(target), query, patch, "application/merge-patch+json"
        )
        return await self._sent(call, _named_object)

    async def json_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
    ) -> Json:
        """JSON-patch: all steps or none; a `test` that fails is an `UnprocessableError`."""
        target = await self._target("patch", gvk, namespace, name, subresource)
        return await self._call(
            target, "PATCH", body=steps, content_type="application/json-patch+json"
        )

    async def delete(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        version: str = "",
        propagation: str = "Background",
    ) -> None:
        """Delete one object; with `uid`, only that very one, with `version`, only as it was then."""
        target = await self._target("delete", gvk, namespace, name)
        options: Json = {"propagationPolicy": propagation}
        wanted = {"uid": uid, "resourceVersion": version}
        if preconditions := {key: value for key, value in wanted.items() if value}:
            options["preconditions"] = preconditions
        await self._call(target, "DELETE", body=options, read=_any_object)

    async def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]:
        """List in pages, each given up before the next is read; `GoneError`: begin again."""
        target = await self._target("list", gvk, namespace, "")
        query = {"limit": str(PAGE_SIZE)}
        if label_selector:
            query["labelSelector"] = label_selector
        if field_selector:
            query["fieldSelector"] = field_selector
        accept = f"{_METADATA_LIST},application/json" if metadata_only else "application/json"
        while True:
            call = ApiCall(target, "GET", _path_of(target), query=query, accept=accept)
            page = await self._sent(call, decode_page)
            yield page
            if not page.next_page:
                return
            query = {**query, "continue": page.next_page}

    async def current_version(
        self, gvk: Gvk, namespace: str = "", *, field_selector: str = ""
    ) -> str:
        """Where the history of a kind stands: what a list would say, for the price of one object."""
        target = await self._target("list", gvk, namespace, "")
        query = {"limit": "1"} | ({"fieldSelector": field_selector} if field_selector else {})
        accept = f"{_METADATA_LIST},application/json"
        call = ApiCall(target, "GET", _path_of(target), query=query, accept=accept)
        return (await self._sent(call, decode_page)).resource_version

    async def list_all(
        self, gvk: Gvk, namespace: str = "", *, label_selector: str = ""
    ) -> list[Json]:
        """List everything; empty namespace: all of them."""
        for attempts_left in (1, 0):
            try:
                pages = self.pages(gvk, namespace, label_selector=label_selector)
                return [item async for page in pages for item in page.items]
            except GoneError:
                if not attempts_left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def watch(  # noqa: PLR0913 - what a watch may ask for
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        silence_s: float | None = 300.0,
    ) -> AsyncGenerator[WatchEvent]:
        """Follow a kind from `resource_version` on, until the server ends the stream.

        From the empty one: what is there comes first, each as ADDED.
        """
        target = await self._target("watch", gvk, namespace, "")
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(_WATCH_S),
        }
        if label_selector:
            query["labelSelector"] = label_selector
        if field_selector:
            query["fieldSelector"] = field_selector
        accept = f"{_METADATA},application/json" if metadata_only else "application/json"
        call = ApiCall(target, "GET", _path_of(target), query=query, accept=accept)
        try:
            async with self._transport.stream(call, silence_s=silence_s) as response:
                async for event in decode_events(response, target):
                    yield event
        except NoSuchKindError:
            self.discovery.forget(gvk.group, gvk.version)
            raise

    def request_raw(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | AsyncIterable[bytes] | None = None,
        limits: aiohttp.ClientTimeout | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Pass a request through under our credentials, as it is; see `Transport.raw`.

        aiohttp's own errors come out unchanged: the proxy decides how to report them to its client.
        """
        return self._transport.raw(method, target, headers=headers, body=body, limits=limits)

    def web_socket(
        self, target: str, protocols: Sequence[str]
    ) -> AbstractAsyncContextManager[aiohttp.ClientWebSocketResponse]:
        """Open a WebSocket at a path, with its query; aiohttp's own errors come out unchanged."""
        return self._transport.web_socket(target, protocols)

    async def _target(
        self, verb: str, gvk: Gvk, namespace: str, name: str, subresource: str = ""
    ) -> Target:
        resource = await self.discovery.by_gvk(gvk)
        scope = namespace if resource.namespaced else ""
        return Target(verb, resource, scope, name, subresource)

    async def _call(
        self,
        target: Target,
        method: str,
        *,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        content_type: str = "application/json",
        read: Read[Json] | None = None,
    ) -> Json:
        call = ApiCall(target, method, _path_of(target), {}, body, content_type)
        return await self._sent(call, read or _named_object)

    async def _sent(self, call: ApiCall, read: Read[T]) -> T:
        try:
            return await self._transport.send(call, read)
        except NoSuchKindError as failure:
            self.discovery.forget(failure.gvk.group, failure.gvk.version)
            raise


def _path_of(target: Target) -> str:
    if target.resource is None:
        return target.path
    return target.resource.path(target.namespace, target.name, target.subresource)


async def _bytes(body: bytes) -> bytes:
    return body


async def _any_object(body: bytes) -> Json:
    return read_object(body)


async def _named_object(body: bytes) -> Json:
    return read_named(body)
