"""The HTTPS server that the API server calls: conversions now, on every replica."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence

from aiohttp import web

from rolecall.conversion import Conversion
from rolecall.webhooks.conversion_review import ReviewError, answer_conversion

_logger = logging.getLogger(__name__)
# A page of 500 objects of 1.5 MB each cannot come: the API server sends at most some ten MB at once.
_LARGEST = 64 * 1024 * 1024


def webhooks_app(conversions: Sequence[Conversion]) -> web.Application:
    """`POST /convert`."""

    async def convert(request: web.Request) -> web.Response:
        data = await request.read()
        try:
            # In a thread: a thousand objects take a quarter of a second, and the loop has other work.
            body = await asyncio.to_thread(_converted, conversions, data)
        except (ReviewError, UnicodeDecodeError, json.JSONDecodeError) as error:
            return web.Response(status=400, text=f"{error}\n")
        return web.Response(body=body, content_type="application/json")

    app = web.Application(client_max_size=_LARGEST)
    app.router.add_post("/convert", convert)
    return app


def _converted(conversions: Sequence[Conversion], data: bytes) -> bytes:
    review = json.loads(data)
    if not isinstance(review, dict):
        raise ReviewError("this is no ConversionReview")
    return json.dumps(answer_conversion(conversions, review), separators=(",", ":")).encode()
