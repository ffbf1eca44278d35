"""Answers as a browser or the page's script takes them, and the numbers of a request."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from aiohttp import web

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 20


def number_in(values: Mapping[str, str], name: str) -> int:
    return number_of(values.get(name, ""))


def number_of(text: str) -> int:
    """A whole number of some digits; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


async def form_of(request: web.Request) -> dict[str, str]:
    """The fields of a form that was sent; of any other body none, whatever it says it is."""
    if request.content_type != _FORM:
        return {}
    body = await request.read()
    try:
        fields = parse_qsl(body.decode(errors="replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    return dict(fields)


def is_fragment(request: web.Request) -> bool:
    return request.query.get("fragment") == "1"


class HtmlAnswer(web.Response):
    """Forgets its text once it is sent: each open connection keeps its last answer until the next, and
    fifty readers have some two hundred connections.
    """

    def __init__(self, text: str, code: int = 200) -> None:
        super().__init__(text=text, status=code, content_type="text/html")

    async def write_eof(self, data: bytes = b"") -> None:
        """Send what there is, and the end."""
        await super().write_eof(data)
        self.body = None


def rows_answer(text: str, total: int, words: str) -> web.Response:
    """Some rows of a list, how many it has, and a word on them."""
    response = HtmlAnswer(text)
    response.headers["X-Total"] = str(total)
    response.headers["X-Found"] = words
    return response
