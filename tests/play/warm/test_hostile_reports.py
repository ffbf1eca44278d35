"""A play that writes reports of its own cannot stop its own time limits.

A plugin runs in the run child itself, and has its socket.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rolecall.runner import Ending
from tests.play.warm.runs import PATIENCE_S, KeptHosts, marked, shell, workshop
from tests.play.warm.test_waits import SHORT_S, Slot

PLUGIN = """
import json, os, socket

def reports(text):
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            sock = socket.socket(fileno=os.dup(fd))
        except OSError:
            continue
        if (sock.family, sock.type) == (socket.AF_UNIX, socket.SOCK_SEQPACKET):
            for message in json.loads(bytes.fromhex(text)):
                sock.send(json.dumps(message).encode())
            return "written"
    return "not reached"

class FilterModule:
    def filters(self): return {"reports": reports}
"""
# In line for a slot that it has: without it, it would get none.
STANDS = [{"r": "waits"}, {"r": "wants", "number": 1}, {"r": "stands"}]


def writes(messages: list[Any]) -> dict[str, Any]:
    """A task that fails where nothing could be written; in hexadecimal, for Ansible reads lists."""
    said = f"{{{{ '{json.dumps(messages).encode().hex()}' | reports }}}}"
    return {"name": "write", "ansible.builtin.command": {"argv": ["test", said, "=", "written"]}}


async def test_play_that_says_it_stands_still_is_ended_by_its_time_limit(
    tmp_path: Path, kept: KeptHosts
) -> None:
    word = f"sleep 600.{os.getpid()}{tmp_path.name[-1]}"
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role(
            "hostile", [writes(STANDS), shell(word)], filter_plugins__hostile_py=PLUGIN
        )
        slot = Slot()
        handle, _ = await shop.start(role, slot=slot, timeout_s=SHORT_S)
        result = await asyncio.wait_for(handle.result(), PATIENCE_S)
        assert (result.ending, result.way) == (Ending.TIMED_OUT, "warm"), result
        assert slot.said[:2] == ["leave", "want"]
        assert not marked(word)


@pytest.mark.nightly
async def test_play_that_reports_another_process_as_its_own_is_ended_itself(
    tmp_path: Path,
    kept: KeptHosts,
) -> None:
    word = f"sleep 600.{os.getpid()}{tmp_path.name[-1]}"
    async with workshop(tmp_path, kept=kept) as shop:
        begins = [{"r": "begin", "pid": os.getpid()}]
        role = shop.role(
            "hostile", [writes(begins), shell(word)], filter_plugins__hostile_py=PLUGIN
        )
        handle, _ = await shop.start(role, timeout_s=SHORT_S)
        result = await asyncio.wait_for(handle.result(), PATIENCE_S)
        assert (result.ending, result.way) == (Ending.TIMED_OUT, "warm"), result
        assert not marked(word)
