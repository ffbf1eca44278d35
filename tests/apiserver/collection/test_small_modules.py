"""`osdk_metric` and `requeue_after`: what they send, what they say, and what they refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from rolecall.json_object import Json
from tests.apiserver.collection.modules import run


class Operator(HTTPServer):
    """Takes metrics, and answers as the test wants."""

    answer: tuple[int, bytes] = (200, b"")

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[Json] = []

    def send(self, **arguments: Any) -> Json:
        """Run the module against it."""
        address = f"http://127.0.0.1:{self.server_port}/metrics"
        what = {"name": "m", "description": "d", "address": address}
        return run("osdk_metric", **{**what, **arguments})


class _Handler(BaseHTTPRequestHandler):
    server: Operator

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body))
        code, text = self.server.answer
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def operator() -> Iterator[Operator]:
    with Operator() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_metric_reaches_the_operator(operator: Operator) -> None:
    assert operator.send(gauge={"set": 0})["changed"] is True
    (metric,) = operator.received
    assert (metric["name"], metric["gauge"]["set"]) == ("m", 0)


def test_refusal_is_passed_on_in_the_operators_words(operator: Operator) -> None:
    operator.answer = (400, b"no such metric\n")
    said = operator.send(counter={"increment": True})
    assert (said["failed"], said["msg"], said["status_code"]) == (True, "no such metric", 400)


def test_check_mode_sends_nothing(operator: Operator) -> None:
    assert operator.send(counter={"increment": True}, check=True)["changed"] is True
    assert operator.received == []


def test_two_kinds_at_once_are_refused(operator: Operator) -> None:
    said = operator.send(counter={"increment": True}, summary={"observe": 1})
    assert "mutually exclusive" in said["msg"]
    assert operator.received == []


@pytest.mark.parametrize("time", ["30s", "5m", "1h30m", "0s", "0"])
def test_duration_is_handed_back(time: str) -> None:
    said = run("requeue_after", time=time)
    assert (said["period"], said["changed"]) == (time, False)


@pytest.mark.parametrize("time", ["", "5", "h", "1d", "30 s", "-1s"])
def test_text_that_is_no_duration_is_refused(time: str) -> None:
    assert run("requeue_after", time=time)["msg"].startswith("invalid time input")
