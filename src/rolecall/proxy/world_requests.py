"""Hands the requests of a run to its world, and asks the API server what the world wants to know."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web
from multidict import CIMultiDict

from rolecall.proxy.bodies import JSON
from rolecall.proxy.exchange import Exchange
from rolecall.proxy.forward import Forwarder, receive_body
from rolecall.proxy.worlds import Ownership, PlayRequest, Said, World


async def ask_world(
    world: World, exchange: Exchange, forwarder: Forwarder, *, gives_owner: bool
) -> web.Response:
    """The world's answer to an exchange."""
    request = exchange.request
    body = await receive_body(exchange) if request.body_exists else b""
    asked = PlayRequest(
        method=exchange.method,
        target=exchange.target,
        query=dict(request.rel_url.query),
        info=exchange.info,
        media_type=exchange.media_type,
        accept=request.headers.get("Accept", ""),
        body=body,
        is_upgrade=exchange.is_upgrade,
        at_s=exchange.at_s,
        owner=Ownership(exchange.credential.owner) if gives_owner else None,
    )
    said = await world.answer(asked, _Server(exchange, forwarder))
    return web.Response(
        status=said.code, body=said.body, headers={"Content-Type": said.media_type or JSON}
    )


@dataclass(frozen=True, slots=True)
class _Server:
    exchange: Exchange
    forwarder: Forwarder

    async def send(
        self, method: str, target: str, *, accept: str, media_type: str = "", body: bytes = b""
    ) -> Said:
        headers: CIMultiDict[str] = self.exchange.headers_to_read(accept or "*/*")
        if media_type:
            headers["Content-Type"] = media_type
        async with self.forwarder.ask(method, target, headers, body) as response:
            answer = await response.read()
            return Said(response.status, response.headers.get("Content-Type", ""), answer)
