"""Answers as a browser or the page's script takes them, and the numbers of a request."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web


def number_in(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isdigit() and len(text) < 9 else 0


def is_fragment(request: web.Request) -> bool:
    return request.query.get("fragment") == "1"


def html_answer(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")


def rows_answer(text: str, total: int, words: str) -> web.Response:
    """Some rows of a list, how many it has, and a word on them."""
    response = html_answer(text)
    response.headers["X-Total"] = str(total)
    response.headers["X-Found"] = words
    return response
