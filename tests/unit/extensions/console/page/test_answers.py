"""Numbers and forms of a request, whatever was sent for them."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from rolecall.extensions.console.page.answers import form_of, number_in, rows_answer


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0", 0), ("7", 7), ("00012", 12), ("12345678", 12345678)),
        *(("123456789", 0), ("9" * 5000, 0), ("-1", 0), ("+1", 0), ("1.0", 0), ("1e3", 0)),
        *(("", 0), (" 1", 0), ("²", 0), ("٣", 0), ("①", 0), ("0x1", 0), ("1_0", 0), ("1\n", 0)),
    ],
)
def test_only_digits_are_a_number(text: str, number: int) -> None:
    assert number_in({"from": text}, "from") == number
    assert number_in({}, "from") == 0


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("kind", "body", "fields"),
    [
        (FORM, b"a=1&b=x+y%2F", {"a": "1", "b": "x y/"}),
        (f"{FORM}; charset=unknown", b"a=1", {"a": "1"}),
        (FORM, b"a=1&a=2", {"a": "2"}),
        (FORM, b"\xff=%ff", {"\ufffd": "\ufffd"}),
        (FORM, b"&".join([b"a=1"] * 21), {}),
        (FORM, b"", {}),
        ("multipart/form-data", b"a=1", {}),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--", {}),
        ("application/json", b'{"a": "1"}', {}),
        ("", b"a=1", {}),
    ],
)
async def test_form_is_read_from_a_form_alone(
    kind: str, body: bytes, fields: dict[str, str]
) -> None:
    got: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        got.extend([await form_of(request), await form_of(request)])
        return web.Response()

    app = web.Application()
    app.router.add_post("/", answer)
    async with TestClient(TestServer(app)) as client:
        await client.post("/", data=body, headers={"Content-Type": kind})
    assert got == [fields, fields]


def test_rows_say_how_many_there_are() -> None:
    answer = rows_answer("<tr></tr>", 1234, "1,234 objects")
    assert (answer.headers["X-Total"], answer.headers["X-Found"]) == ("1234", "1,234 objects")
    assert answer.content_type == "text/html" and answer.charset == "utf-8"
