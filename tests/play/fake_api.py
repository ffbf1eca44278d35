"""An API server with one CR, as far as plays that report need one: it keeps what is written."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rolecall.json_object import Json

APP = "/apis/demo.example.com/v1/namespaces/demo/apps/shop"
EVENTS = "/api/v1/namespaces/demo/events"


class FakeApi:
    """What is stored, and what was asked."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        metadata = {"name": "shop", "namespace": "demo", "uid": "u-1", "resourceVersion": "1"}
        self.cr: Json = {"metadata": metadata, "status": {"gone": 1, "kept": "yes"}}
        self.events: dict[str, Json] = {}
        self.readies: list[Json] = []  # each that was written
        self.url = ""

    @property
    def status(self) -> Json:
        status: Json = self.cr["status"]
        return status

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Json]:
        self.requests.append(f"{method} {path.rpartition('/')[2]}")
        if path == "/apis/demo.example.com/v1":
            rows = [
                {"name": name, "kind": "App", "namespaced": True, "singularName": "app"}
                for name in ("apps", "apps/status")
            ]
            return 200, {"resources": rows}
        if path == APP:
            return 200, self.cr
        if path == f"{APP}/status":
            merged = {**self.status, **body["status"]}
            version = str(int(self.cr["metadata"]["resourceVersion"]) + 1)
            self.cr = {
                "metadata": {**self.cr["metadata"], "resourceVersion": version},
                "status": {name: value for name, value in merged.items() if value is not None},
            }
            self.readies += [each for each in self.status["conditions"] if each["type"] == "Ready"]
            return 200, self.cr
        return self._answer_event(method, path, body)

    def _answer_event(self, method: str, path: str, body: Any) -> tuple[int, Json]:
        if method == "POST" and path == EVENTS:
            self.events[body["metadata"]["name"]] = body
            return 201, body
        name = path.rpartition("/")[2]
        if name in self.events:
            return 200, self.events[name]
        return 404, {"kind": "Status", "code": 404, "message": "not found"}


@contextmanager
def serving() -> Iterator[FakeApi]:
    api = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            code, said = api.answer(self.command, self.path, json.loads(body) if body else None)
            text = json.dumps(said).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = _handle  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            """Not on the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
