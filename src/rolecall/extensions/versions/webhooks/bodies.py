"""Reads bodies of reviews within one budget of bytes for the port, because any client may send one.

A body counts while it is read and until its review has a response. If the budget is used up, we reject
the largest body that is still being read: that costs an attacker more than other clients. The API
server treats a rejection as a failed webhook, and retries or follows the failure policy.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from rolecall.json_object import Json

MEGABYTE = 1024 * 1024
# Of all bodies at once: as much as one list of a thousand large objects to be converted.
BUDGET = 64 * MEGABYTE


class ReviewError(ValueError):
    """The body is not a review, so that a response to it is not possible."""


def review_in(data: bytes) -> Json:
    """The map in a body; raises `ValueError`."""
    try:
        found = json.loads(data)
    except RecursionError:
        raise ReviewError("the review is nested too deeply") from None
    if not isinstance(found, dict):
        raise ReviewError("the body is not a review")
    return found


@dataclass(slots=True, eq=False)
class _Body:
    request: web.Request
    size: int = 0
    is_whole: bool = False


class BodyBudget:
    def __init__(self, total: int = BUDGET) -> None:
        self._total = total
        self._bodies: set[_Body] = set()

    @asynccontextmanager
    async def read(self, request: web.Request, most: int) -> AsyncIterator[bytes]:
        """The whole body; raises HTTP errors 413 and 503."""
        body = _Body(request)
        self._bodies.add(body)
        try:
            yield await self._whole(body, most)
        finally:
            self._bodies.discard(body)

    async def _whole(self, body: _Body, most: int) -> bytes:
        if (body.request.content_length or 0) > most:
            raise web.HTTPRequestEntityTooLarge(most, body.request.content_length or 0)
        data = bytearray()
        async for chunk in body.request.content.iter_any():
            body.size += len(chunk)
            if body.size > most:
                raise web.HTTPRequestEntityTooLarge(most, body.size)
            self._make_room(body)
            data += chunk
        body.is_whole = True
        return bytes(data)

    def _make_room(self, newest: _Body) -> None:
        while sum(each.size for each in self._bodies) > self._total:
            unread = [each for each in self._bodies if not each.is_whole]
            largest = max(unread, key=lambda each: each.size)
            if largest is newest:
                raise web.HTTPServiceUnavailable(text="too many reviews at once\n")
            self._bodies.discard(largest)
            transport = largest.request.transport
            if transport is not None:
                transport.abort()
