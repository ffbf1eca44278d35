"""The other end of the control socket: for commands on the machine, or in the pod, of an engine."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

from rolecall.control.sockets import address_of, names
from rolecall.errors import RolecallError

# An engine that is busy answers later; one that is not there refuses at once.
_PATIENCE_S = 30.0


class ControlError(RolecallError):
    """There is no engine behind this socket, or it cannot be understood."""


def sockets_of(root: Path) -> list[Path]:
    """The sockets below one root that engines answer on now."""
    return [path for name in names() if _answers(path := root / name)]


def ask(path: Path, method: str, target: str, body: Any = None) -> tuple[int, Any]:
    """One request; the HTTP code and the document of the answer."""
    with contextlib.closing(connect(path)) as connection:
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, target, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _no_answer(path, error) from error


def states(path: Path) -> Generator[dict[str, Any], None, None]:
    """The engine's state now, and whenever it changes; ends when the engine does."""
    with contextlib.closing(connect(path)) as connection:
        try:
            connection.request("GET", "/v1/state?watch=1")
            for line in connection.getresponse():
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _no_answer(path, error) from error


def connect(path: Path) -> http.client.HTTPConnection:
    """A connection to the engine behind a socket."""
    connection = http.client.HTTPConnection("localhost", timeout=_PATIENCE_S)
    try:
        connection.sock = _connected(path)
    except OSError as error:
        raise _no_answer(path, error) from error
    return connection


def _answers(path: Path) -> bool:
    try:
        _connected(path).close()
    except OSError:
        return False
    return True


def _connected(path: Path) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.settimeout(_PATIENCE_S)
        with address_of(path) as address:
            connected.connect(address)
    except BaseException:
        connected.close()
        raise
    return connected


def _no_answer(path: Path, error: Exception) -> ControlError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ControlError(
        f"no engine answers on `{path}`: {why}",
        hint="start one with `rolecall run`, or name its folder with --artifacts-dir",
    )
