"""Speaks HTTP over the control socket of an engine of this machine.

With the standard library alone: completion in a shell waits for the imports.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from rolecall.errors import RolecallError
from rolecall.json_object import Json

CONTROL_SOCKET = "control.sock"
# Further engines on the same folder.
_SOCKETS = "control*.sock"
_CONNECT_S = 2.0
_ANSWER_S = 30.0
# The engine writes at least every ten seconds; after three times that it hangs, or is gone.
_SILENCE_S = 30.0
# What `sun_path` takes on every system, with the byte that ends it.
_LONGEST = 103


class ControlRefusedError(RolecallError):
    """The engine answered, and said no."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_CONNECT_S)
        with _short(self._path) as path:
            self.sock.connect(path)
        self.sock.settimeout(self.timeout)


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """The same file by a name that a socket address can hold."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """An engine that answered; `root` is the folder of its runs."""

    root: Path
    socket: str = CONTROL_SOCKET

    def state(self) -> Json:
        """What it does now, and all its CRs."""
        return self._ask("GET", "/v1/state")

    def states(self) -> Iterator[Json]:
        """The same again and again, until the engine ends."""
        connection = self._connection(_SILENCE_S)
        with contextlib.closing(connection):
            connection.request("GET", "/v1/state?watch=1")
            answer = connection.getresponse()
            for line in _lines(answer):
                yield json.loads(line)

    def shards(self) -> Json | None:
        """Which replica has which part of the CRs; None: this one has all, or is too old to divide."""
        try:
            found: Json | None = self._ask("GET", "/v1/shards")["shards"]
        except ControlRefusedError as refusal:
            if refusal.code != HTTPStatus.NOT_FOUND:
                raise
            return None
        return found

    def reconcile(self, what: Mapping[str, Any]) -> Json:
        """Bring keys back now; raises `ControlRefusedError`."""
        return self._ask("POST", "/v1/reconcile", what)

    def stop(self, what: Mapping[str, Any]) -> Json:
        """End a run in flight; raises `ControlRefusedError`."""
        return self._ask("POST", "/v1/stop", what)

    def page(self) -> str:
        """Where its page answers, with what lets one in; empty: it serves none."""
        return str(self._ask("GET", "/v1/page")["address"])

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        sent = None if body is None else json.dumps(body)
        connection = self._connection(_ANSWER_S)
        with contextlib.closing(connection):
            connection.request(method, path, sent, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            document: Json = json.loads(answer.read() or b"{}")
        if answer.status >= 400:
            raise ControlRefusedError(answer.status, str(document.get("error", answer.reason)))
        return document

    def _connection(self, timeout_s: float) -> _UnixConnection:
        return _UnixConnection(self.root / self.socket, timeout_s)


def engines_of(roots: Iterable[Path]) -> list[tuple[LocalEngine, Json]]:
    """The engines whose sockets answer, each with its state."""
    found = []
    for path in [path for root in roots for path in sorted(root.glob(_SOCKETS))]:
        engine = LocalEngine(path.parent, path.name)
        # No socket, one without a listener, one of another user: no engine for us.
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            found.append((engine, engine.state()))
    return found


def _lines(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """Until the engine ends, whichever way."""
    with contextlib.suppress(ConnectionError, http.client.HTTPException, TimeoutError):
        while line := answer.readline():
            yield line
