"""For which CR a request is sent: clients in handlers send it where they send a password.

The kubeconfig of the process names no CR. While a handler of one runs, the `Authorization` header of
what it sends to the proxy says for whom: so what it creates is owned by its CR, as with a play.
Three places cover the clients of Kubernetes: `http.client` (kubernetes, pykube, requests), aiohttp
(kubernetes_asyncio) and httpx (lightkube, kr8s). Programs that a handler starts send none; what they
create has no owner but the one that `kopf.adopt` gave it.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp

_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_header: ContextVar[str] = ContextVar("header of the CR", default="")


class Identities:
    """Of the CRs whose handlers run here."""

    def __init__(self, port: int, password: str) -> None:
        self._port, self._password = port, password

    @contextmanager
    def acting_for(self, body: Mapping[str, Any]) -> Iterator[None]:
        """What is sent inside is sent for this CR."""
        before = _header.set(self._header_for(body))
        try:
            yield
        finally:
            _header.reset(before)

    def install(self) -> None:
        """Teach the clients; those of httpx where it is imported."""
        _teach_http_client(self._port)
        _teach_aiohttp(self._port)
        if "httpx" in sys.modules:
            _teach_httpx(self._port)

    def _header_for(self, body: Mapping[str, Any]) -> str:
        metadata = body["metadata"]
        if "uid" not in metadata:  # the API server asks about it, and has not stored it
            return ""
        owner = {key: body[key] for key in ("apiVersion", "kind")}
        owner |= {key: metadata[key] for key in ("name", "uid")}
        text = json.dumps({**owner, "Namespace": metadata.get("namespace", "")})
        user = base64.urlsafe_b64encode(text.encode()).decode()
        return "Basic " + base64.b64encode(f"{user}:{self._password}".encode()).decode()


def _teach_http_client(port: int) -> None:
    put = http.client.HTTPConnection.putheader

    def putheader(self: http.client.HTTPConnection, header: Any, *values: Any) -> None:
        is_login = str(header).lower() == "authorization"
        if is_login and _header.get() and self.host in _HOSTS and int(self.port) == port:
            values = (_header.get(),)
        put(self, header, *values)

    http.client.HTTPConnection.putheader = putheader  # type: ignore[method-assign]


def _teach_aiohttp(port: int) -> None:
    send = aiohttp.ClientSession._request

    async def request(
        self: aiohttp.ClientSession, method: str, url: Any, **named: Any
    ) -> aiohttp.ClientResponse:
        target = self._build_url(url)
        if _header.get() and target.host in _HOSTS and target.port == port:
            named["headers"] = {**dict(named.get("headers") or {}), "Authorization": _header.get()}
            named.pop("auth", None)
        return await send(self, method, url, **named)

    aiohttp.ClientSession._request = request  # type: ignore[method-assign,assignment]


def _teach_httpx(port: int) -> None:
    httpx = sys.modules["httpx"]

    def marked(request: Any) -> Any:
        if _header.get() and request.url.host in _HOSTS and request.url.port == port:
            request.headers["Authorization"] = _header.get()
        return request

    send, send_async = httpx.Client._send_single_request, httpx.AsyncClient._send_single_request

    def send_marked(self: Any, request: Any) -> Any:
        return send(self, marked(request))

    async def send_marked_async(self: Any, request: Any) -> Any:
        return await send_async(self, marked(request))

    httpx.Client._send_single_request = send_marked
    httpx.AsyncClient._send_single_request = send_marked_async
