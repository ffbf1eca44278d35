"""Stands in for an engine's control socket, and for the folders that its runs leave."""

from __future__ import annotations

import json
import os
import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from rolecall.history import KeptRun, write_run
from rolecall.json_object import Json
from tests.fixtures.command_line import rolecall_here

ENGINE = {
    "version": "0.1.0",
    "pid": 71,
    "leads": True,
    "began": "2026-11-22T20:00:00Z",
    "server": "https://10.0.0.1:6443",
    "watches": [{"kind": "Website", "api_version": "example.com/v1", "plural": "websites"}],
}


def cr(name: str, state: str = "ready", **facts: Any) -> Json:
    """One CR of the engine's state."""
    return {
        "kind": "Website",
        "api_version": "example.com/v1",
        "namespace": "default",
        "name": name,
        "generation": 1,
        "state": state,
        **facts,
    }


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


class FakeEngine:
    """Answers with what the test sets, and keeps what it was asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.crs: list[Json] = []
        self.asked: list[Json] = []
        self.answer: tuple[int, Json] = (202, {"keys": [], "paused": []})
        self.shards: Json | None = None
        self.facts: Json = {}  # of the engine itself
        self.page = "http://127.0.0.1:1/of-the-fake"

    @property
    def state(self) -> Json:
        return {"engine": {**ENGINE, **self.facts}, "crs": self.crs}

    def divide(self, replica: str, held: int, pid: int = 71) -> None:
        """It is one of those that divide the CRs into 4 shards."""
        shards = {"count": 4, "held": held, "replica": replica}
        self.facts = {"shards": shards, "pid": pid}

    def keep_run(self, name: str, run: str, output: str = "", **facts: Any) -> KeptRun:
        """A run as a real engine would have left it."""
        folder = self.root / "example.com" / "v1" / "Website" / "default" / name / "artifacts" / run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stdout").write_text(output)
        kept = KeptRun(run, "Website", "example.com/v1", "default", name, folder=folder, **facts)
        write_run(kept)
        return kept

    def rolecall(self, *words: str, **environ: str) -> CompletedProcess[str]:
        """Our command line on this engine, with its output piped."""
        return rolecall_here(words, self.environ(**environ))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "rolecall", *words]

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR",)}
        # /dev/null: no cluster is named, so the engine that is here is meant.
        own = {"ROLECALL_ARTIFACTS_DIR": str(self.root), "KUBECONFIG": "/dev/null", "TERM": "xterm"}
        return kept | own | more


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    engine: FakeEngine


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.path.endswith("watch=1"):
            self.send_response(200)
            self.end_headers()
            for _ in range(2):
                self.wfile.write(json.dumps(self.server.engine.state).encode() + b"\n")
            return
        if self.path == "/v1/page":
            self._answer(200, {"address": self.server.engine.page})
            return
        if self.path == "/v1/shards":
            self._answer(200, {"shards": self.server.engine.shards})
            return
        self._answer(200, self.server.engine.state)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.engine.asked.append(json.loads(body))
        self._answer(*self.server.engine.answer)

    def address_string(self) -> str:
        return "unix"

    def log_message(self, *_: object) -> None: ...

    def _answer(self, code: int, document: Json) -> None:
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def fake_engine(*, answers: bool = True) -> Iterator[FakeEngine]:
    """In a short folder, for the socket in it."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        engine = FakeEngine(Path(folder))
        if not answers:
            yield engine
            return
        with _answering(engine, "control.sock"):
            yield engine


@contextmanager
def second_engine(first: FakeEngine) -> Iterator[FakeEngine]:
    """Another one on the same folder."""
    engine = FakeEngine(first.root)
    with _answering(engine, "control-2.sock"):
        yield engine


@contextmanager
def engine_of_further_cluster(first: FakeEngine, cluster: str) -> Iterator[FakeEngine]:
    """Where an engine goes whose folder is another cluster's."""
    engine = FakeEngine(first.root / ".clusters" / cluster)
    engine.root.mkdir(parents=True)
    with _answering(engine, "control.sock"):
        yield engine


@contextmanager
def _answering(engine: FakeEngine, name: str) -> Iterator[None]:
    with _Server(str(engine.root / name), _Handler) as server:
        server.engine = engine
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
