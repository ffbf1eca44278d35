"""A proxy between the engine and the API server that sees every request and may fail one of them.

Promise: requests that are not meant to fail pass unchanged, and watches are streamed. We read objects
before and after a write of a play, to know what it changed.

It is behind the engine's own proxy and not in front of it, so it also sees the requests of the engine
itself, and those that the engine makes for a play. The namespace in its path and the user agent show to
whom a request belongs. Plain HTTP on loopback is enough, because only the engine gets the port. We
reject upgraded connections (exec, port-forward) with a message: simulated nodes do not serve them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from rolecall.clock import Clock, SystemClock
from rolecall.json_object import Json, as_map
from rolecall.kube import Client, Credentials
from rolecall.proxy import parse_request_info
from rolecall_dev.localcluster import kubeconfig_text
from rolecall_dev.staging.objects import changed_leaves
from rolecall_dev.staging.traffic import (
    CASE_PREFIX,
    Fault,
    FaultKind,
    SeenRequest,
    Traffic,
    answer_of,
    refusal_of,
    reports_success,
    run_begins,
)

# As the engine calls itself.
_ENGINE_AGENT = "rolecall"
_HOPS = frozenset(
    {
        "connection",
        "host",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "te",
        "upgrade",
        "accept-encoding",
        "authorization",
    }
)
_LIMITS = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=None)
_NOT_PASSED = "`rolecall test` passes no exec, attach or port-forward: its nodes are simulated"


class FaultProxy:
    """`async with FaultProxy.opened(kubeconfig) as proxy`; the engine gets `proxy.kubeconfig`."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._followed: dict[str, Traffic] = {}
        self._watches: set[asyncio.Task[Any]] = set()
        # Of the case that runs alone: gets what is in no followed namespace.
        self.alone: Traffic | None = None
        self.passed = 0
        self.runs = 0  # that began, in namespaces that are followed
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def opened(cls, upstream: Path) -> AsyncIterator[FaultProxy]:
        async with AsyncExitStack() as stack:
            credentials = Credentials.load({"KUBECONFIG": str(upstream)})
            client = await stack.enter_async_context(Client(credentials))
            proxy = cls(client, SystemClock())
            runner = web.ServerRunner(
                web.Server(proxy._answer, access_log=None),
                shutdown_timeout=0.1,
                handle_signals=False,
            )
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            proxy.port = runner.addresses[0][1]
            stack.callback(proxy.cut_watches)
            yield proxy

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write_kubeconfig(self, path: Path) -> Path:
        """One that leads here; it holds no credential, since the proxy adds the administrator's."""
        path.write_text(kubeconfig_text("test", {"server": self.url}, {}), encoding="utf-8")
        return path

    def follow(self, namespace: str) -> Traffic:
        """Note the requests in a namespace from now on."""
        self._followed[namespace] = traffic = Traffic(namespace)
        return traffic

    def unfollow(self, namespace: str) -> None:
        if traffic := self._followed.pop(namespace, None):
            traffic.release()

    def cut_watches(self) -> None:
        """Cut every open watch, so that its client must list again."""
        for task in list(self._watches):
            task.cancel()

    def _traffic_of(self, namespace: str) -> Traffic | None:
        if namespace in self._followed:
            return self._followed[namespace]
        # Late requests of an ended case belong to no case.
        return None if namespace.startswith(CASE_PREFIX) else self.alone

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if "upgrade" in request.headers.get("Connection", "").lower():
            return web.json_response(
                {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Failure",
                    "message": _NOT_PASSED,
                    "code": 501,
                },
                status=501,
            )
        self.passed += 1
        url = request.rel_url
        info = parse_request_info(request.method, url.raw_path, url.raw_query_string)
        if info.verb in ("watch", "proxy") or "follow=" in url.raw_query_string:
            return await self._stream(request)
        body = await request.content.read()
        is_play = request.headers.get("User-Agent", "") != _ENGINE_AGENT
        traffic = self._traffic_of(info.namespace)
        if traffic is None:
            return await self._passed(request, body)
        seen = traffic.note(
            request.method,
            info,
            url.raw_query_string,
            is_play=is_play,
            at_s=self._clock.monotonic(),
        )
        seen.body = body
        self.runs += int(not is_play and _status_says(seen, run_begins))
        await traffic.before(seen)
        if traffic.refuses(seen):
            seen.code, status = refusal_of(info)
            return web.json_response(status, status=seen.code)
        fault = traffic.fault_for(seen)
        if fault is not None and not fault.reaches_server:
            return self._failed(request, seen, fault)
        if not is_play and _status_says(seen, reports_success):
            await traffic.pass_success()
        answer = await self._done(request, seen)
        await traffic.pass_write(seen)
        return answer if fault is None else self._failed(request, seen, fault)

    def _failed(
        self, request: web.BaseRequest, seen: SeenRequest, fault: Fault
    ) -> web.StreamResponse:
        if fault.kind is FaultKind.REFUSED:
            if request.transport is not None:
                request.transport.abort()
            seen.code = 0
            return web.Response(status=502)
        seen.code, status = answer_of(fault.kind)
        headers = {"Retry-After": "1"} if fault.kind is FaultKind.THROTTLED else {}
        return web.json_response(status, status=seen.code, headers=headers)

    async def _done(self, request: web.BaseRequest, seen: SeenRequest) -> web.Response:
        """Pass a request on, and learn what it did."""
        is_looked_at = seen.is_write and seen.is_play and bool(seen.info.name)
        before = await self._read(request.rel_url.raw_path) if is_looked_at else {}
        answer = await self._passed(request, seen.body)
        seen.code = answer.status
        if seen.is_write:
            self._learn(seen, before, answer)
        return answer

    def _learn(self, seen: SeenRequest, before: Json, answer: web.Response) -> None:
        if answer.status >= 300:
            seen.has_effect = False
            return
        verb = seen.info.verb
        after = _document(answer.body if isinstance(answer.body, bytes) else b"")
        if verb in ("delete", "deletecollection"):
            seen.has_effect = True
            seen.changed = (f"{seen.resource_name}: deleted",)
        elif verb == "create" and not seen.info.name:
            seen.has_effect = not seen.info.resource.endswith("reviews")
            seen.changed = (f"{seen.resource_name} created",)
        elif not before:
            seen.has_effect = True
        else:
            versions = [
                as_map(each.get("metadata")).get("resourceVersion") for each in (before, after)
            ]
            seen.has_effect = None if None in versions else versions[0] != versions[1]
            seen.changed = changed_leaves(before, after) if seen.has_effect else ()

    async def _read(self, path: str) -> Json:
        parts = path.split("/")
        # A subresource's object is the object.
        path = path.removesuffix("/status") if parts[-1] == "status" else path
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with self._client.request_raw(
                "GET", path, headers={"Accept": "application/json", "Accept-Encoding": "identity"}
            ) as response:
                if response.status == 200:
                    return _document(await response.read())
        return {}

    async def _passed(self, request: web.BaseRequest, body: bytes) -> web.Response:
        async with self._client.request_raw(
            request.method,
            request.rel_url.raw_path_qs,
            headers=_sent(request),
            body=body or None,
            limits=_LIMITS,
        ) as response:
            content = await response.read()
            return web.Response(status=response.status, headers=_answered(response), body=content)

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is not None:
            self._watches.add(task)
        try:
            async with self._client.request_raw(
                request.method, request.rel_url.raw_path_qs, headers=_sent(request), limits=_LIMITS
            ) as response:
                out = web.StreamResponse(status=response.status, headers=_answered(response))
                # The client may have disconnected meanwhile.
                with suppress(ConnectionError, aiohttp.ClientError):
                    await out.prepare(request)
                    async for piece in response.content.iter_any():
                        await out.write(piece)
                    await out.write_eof()
                return out
        except asyncio.CancelledError:
            if request.transport is not None:
                request.transport.abort()
            raise
        finally:
            if task is not None:
                self._watches.discard(task)


def _sent(request: web.BaseRequest) -> CIMultiDict[str]:
    headers = CIMultiDict(
        (key, value) for key, value in request.headers.items() if key.lower() not in _HOPS
    )
    headers["Accept-Encoding"] = "identity"
    return headers


def _answered(response: aiohttp.ClientResponse) -> CIMultiDict[str]:
    return CIMultiDict(
        (key, value) for key, value in response.headers.items() if key.lower() not in _HOPS
    )


def _status_says(seen: SeenRequest, says: Callable[[Json], bool]) -> bool:
    return seen.info.subresource == "status" and says(as_map(_document(seen.body).get("status")))


def _document(body: bytes) -> Json:
    try:
        return as_map(json.loads(body))
    except (ValueError, RecursionError):
        return {}
