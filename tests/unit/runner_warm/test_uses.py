"""What a run child notes of its play ends with the play."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rolecall_warm.hooks.uses import Uses

Hook = Callable[[str, tuple[Any, ...]], None]
OUTSIDE = "/var/somewhere/pages.new"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch) -> list[Hook]:
    """The listeners that were put in place; a real one would stay in this process."""
    hooks: list[Hook] = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    return hooks


def test_file_outside_of_the_project_is_reported(
    ends: tuple[socket.socket, socket.socket], opens: list[Hook]
) -> None:
    Uses("/core").begin(ends[1], ("/project",), ())
    opens[0]("open", (OUTSIDE, "w", 1))
    said = json.loads(ends[0].recv(4096))
    assert said["impure"] == f"it writes `{OUTSIDE}`, which is not of the project"


def test_what_the_child_writes_for_its_host_after_the_play_makes_no_run_impure(
    ends: tuple[socket.socket, socket.socket], opens: list[Hook]
) -> None:
    uses = Uses("/core")
    uses.begin(ends[1], ("/project",), ())
    uses.end()
    opens[0]("open", (OUTSIDE, "w", 1))
    with pytest.raises(BlockingIOError):
        ends[0].recv(4096)
