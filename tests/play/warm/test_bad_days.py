"""No disk, no memory, processes without end: a run ends the stock way or with the true reason."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rolecall.runner import Ending
from tests.play.warm.runs import (
    PATIENCE_S,
    Workshop,
    debug,
    descriptors,
    is_alive,
    marked,
    shell,
    spare_of,
    until,
    workshop,
)
from tests.play.warm.surroundings import fill_bytes, fill_names, little_memory, small_disk

NO_SPACE = os.strerror(errno.ENOSPC)
EATS = """
def eat(text):
    hoard = []
    while True:
        hoard.append(b"x" * (8 << 20))
class FilterModule:
    def filters(self): return dict(eat=eat)
"""
# Each link lives for a moment, in a session of its own, and has started the next one before it goes.
CHAIN = """
import os, sys
while True:
    if os.fork(): os._exit(0)
    os.setsid()
"""


@asynccontextmanager
async def full_of_names(tmp_path: Path) -> AsyncIterator[tuple[Path, Workshop, Path]]:
    """A temporary folder without room for another file, a warm runner in it, and a role that ran."""
    with small_disk(tmp_path / "disk") as disk:
        async with workshop(tmp_path, environment={"TMPDIR": str(disk)}) as shop:
            role = shop.role("fine", [debug("fine")])
            assert (await shop.run(role)).way == "warm"
            await spare_of(shop)  # from now on the host makes and removes no file
            fill_names(disk)
            yield disk, shop, role


@pytest.mark.nightly
async def test_temporary_folder_that_takes_no_name_is_reported(tmp_path: Path) -> None:
    async with full_of_names(tmp_path) as (disk, shop, role):
        left_open = set()
        for _ in range(2):
            result = await shop.run(role)
            assert result.ending is Ending.NO_RECAP
            assert NO_SPACE in result.reason_text
            left_open.add(descriptors("self"))
        assert len(left_open) == 1
        for path in disk.iterdir():
            path.unlink()
        assert (await shop.run(role)).way == "warm"


async def test_temporary_folder_that_takes_one_name_more_is_reported(tmp_path: Path) -> None:
    async with full_of_names(tmp_path) as (disk, shop, role):
        (disk / "name-0").unlink()
        result = await shop.run(role)
        assert result.ending is Ending.NO_RECAP
        assert NO_SPACE in result.reason_text


@pytest.mark.nightly
async def test_temporary_folder_that_takes_no_byte_fails_the_task_that_writes(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with workshop(tmp_path, environment={"TMPDIR": str(disk)}) as shop:
            fine = shop.role("fine", [debug("fine")])
            assert (await shop.run(fine)).way == "warm"
            fill_bytes(disk)
            assert (await shop.run(fine)).succeeded
            writes = {"ansible.builtin.copy": {"content": "x" * 9000, "dest": str(tmp_path / "to")}}
            result = await shop.run(shop.role("writes", [writes]))
            assert [result.ending, result.way] == [Ending.FINISHED, "warm"]
            assert NO_SPACE in result.failures[0].message
            assert not (tmp_path / "to").exists()


async def test_artifacts_that_cannot_be_written_are_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with workshop(tmp_path, root=disk / "root") as shop:
            role = shop.role("once", [shell("echo x >> {{ work }}/done"), debug("y" * 2000)])
            assert (await shop.run(role)).way == "warm"
            fill_bytes(disk)
            result = await shop.run(role)
            assert result.ending in (Ending.NO_RECAP, Ending.NOT_STARTED)
            assert NO_SPACE in result.reason_text
            assert len((tmp_path / "done").read_text().splitlines()) <= 2


async def test_host_that_finds_no_room_for_its_folder_costs_only_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        fill_names(disk)
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        async with workshop(tmp_path) as shop:
            result = await shop.run(shop.role("fine", [debug("fine")]))
            assert result.succeeded and result.way == "stock"


async def test_run_that_eats_all_memory_is_reported_as_killed_and_the_host_lives(
    tmp_path: Path,
) -> None:
    with little_memory(f"rolecall-test-{os.getpid()}", megabytes=300) as members:
        async with workshop(tmp_path) as shop:
            fine = shop.role("fine", [debug("fine")])
            await shop.run(fine)
            host = shop.host_pid
            members.write_text(str(host))
            eats = shop.role("eats", [debug("{{ 'x' | eat }}")], filter_plugins__eats_py=EATS)
            result = await shop.run(eats)
            assert (result.ending, result.rc) == (Ending.KILLED, None)
            assert "memory" in result.reason_text
            assert (await shop.run(fine)).way == "warm"
            assert shop.host_pid == host


@pytest.mark.nightly
async def test_chain_of_forks_without_end_is_ended_whole(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        (tmp_path / "chain.py").write_text(CHAIN)
        # Every link holds this pipe open: it ends with the last of them, wherever that one hides.
        os.mkfifo(tmp_path / "alive")
        alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
        begin = "for n in 1 2 3 4; do {{ ansible_playbook_python }} -S {{ work }}/chain.py & done"
        hold = "exec 9>{{ work }}/alive; echo held >&9"
        role = shop.role(
            "chain", [shell(f"{hold}; {begin}; touch {{{{ work }}}}/began; sleep 600")]
        )
        handle, _events = await shop.start(role)
        await until((tmp_path / "began").exists, "the task to begin")
        await until(lambda: marked("chain.py"), "the chain")
        assert os.read(alive, 100) == b"held\n"
        handle.cancel("enough")
        assert (await handle.result()).ending is Ending.CANCELLED
        await until(lambda: _has_ended(alive), "all links to be gone")
        os.close(alive)


def _has_ended(pipe: int) -> bool:
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


@pytest.mark.nightly
async def test_conversation_cut_between_runs_is_begun_anew(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell("echo x >> {{ work }}/done")])
        await shop.run(role)
        before = shop.host_pid
        _socket_of(shop).sendall(b"\xff" * 64)  # no message that a host understands
        await until(lambda: not is_alive(before), "the host to leave")
        ways = [(await shop.run(role)).way for _ in range(2)]
        assert ways[-1] == "warm"
        assert len((tmp_path / "done").read_text().splitlines()) == 3


async def test_conversation_cut_during_a_run_ends_it_and_says_so(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        done = tmp_path / "done"
        waits = "echo x >> {{ work }}/done; sleep 600"
        handle, _events = await shop.start(shop.role("waits", [shell(waits)]))
        await until(lambda: done.exists() and done.read_text(), "the task to begin")
        _socket_of(shop).sendall(b"\xff" * 64)
        result = await asyncio.wait_for(handle.result(), PATIENCE_S)
        assert result.ending is Ending.KILLED
        assert done.read_text() == "x\n"


def _socket_of(shop: Workshop) -> socket.socket:
    (link,) = shop.hosts._hosts.values()
    return link._sock
