"""How engine and host talk: JSON messages over a Unix stream socket, descriptors riding along.

The pair of sockets is made by the engine and inherited by the host, so there is no path to guess, to
leave behind or to remove. A message is four bytes of length and JSON; its descriptors travel with the
first of those bytes. The run child reports on a socket of its own, one datagram for each report, so
that any process of a run may write there without mixing letters.
"""

from __future__ import annotations

import array
import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

Message = dict[str, Any]

_LENGTH = struct.Struct("!I")
# Far above any environment and command line; what is longer is not ours.
_LONGEST = 16 * 1024 * 1024
_MOST_DESCRIPTORS = 8
# One report must fit one datagram; longer texts are cut by who writes them.
LONGEST_REPORT = 64 * 1024
# In the report of an event: when it happened, on the clock that never jumps. Not kept.
AT_S = "rolecall_at_s"


class WireError(Exception):
    """The other side hung up in the middle, or sent what is no message."""


def send(sock: socket.socket, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
    body = json.dumps(message).encode()
    data = memoryview(_LENGTH.pack(len(body)) + body)
    sent = sock.sendmsg([data], _with(fds))
    if sent < len(data):
        sock.sendall(data[sent:])


def receive(sock: socket.socket) -> tuple[Message, list[int]] | None:
    """Wait for one message and its descriptors; None at the end of the conversation."""
    head, fds = _receive_head(sock)
    if not head:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > _LONGEST:
        raise WireError(f"a message of {length} bytes was announced")
    body = json.loads(_receive_exactly(sock, length))
    if not isinstance(body, dict):
        raise WireError("a message was not a mapping")
    return body, fds


def _receive_head(sock: socket.socket) -> tuple[bytes, list[int]]:
    head, fds = _receive_with_fds(sock, _LENGTH.size)
    if head and len(head) < _LENGTH.size:
        head += _receive_exactly(sock, _LENGTH.size - len(head))
    return head, fds


def _receive_exactly(sock: socket.socket, length: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        piece = sock.recv(length - len(pieces))
        if not piece:
            raise WireError("the other side hung up in the middle of a message")
        pieces += piece
    return bytes(pieces)


def report(sock: socket.socket, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
    sock.sendmsg([json.dumps(message).encode()], _with(fds))


def read_report(sock: socket.socket) -> tuple[Message, list[int]] | None:
    """Read one report; None once no process holds the other end.

    A descriptor that came along may be missing: this process may have as many as it is allowed. What is
    no report, or was too long for one, is an empty report: a lost note is not worth a run.
    """
    try:
        data, fds = _receive_with_fds(sock, LONGEST_REPORT)
    except ConnectionResetError:  # said once, where the other end left an answer unread
        data, fds = _receive_with_fds(sock, LONGEST_REPORT)
    if not data:
        return None
    try:
        message = json.loads(data)
    except ValueError:
        message = {}
    return message if isinstance(message, dict) else {}, fds


def _with(fds: Sequence[int]) -> list[tuple[int, int, Any]]:
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []


def _receive_with_fds(sock: socket.socket, most_bytes: int) -> tuple[bytes, list[int]]:
    fds = array.array("i")
    data, ancillary, _flags, _address = sock.recvmsg(
        most_bytes, socket.CMSG_SPACE(_MOST_DESCRIPTORS * fds.itemsize)
    )
    for level, kind, part in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
    return data, list(fds)
