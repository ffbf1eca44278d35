"""The first run need not wait for the host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.runner import PlayTerms
from rolecall.watches import Play
from tests.play.warm.runs import PATIENCE_S, until, workshop

_LONGER_THAN_THE_TEST_S = 10 * PATIENCE_S


async def test_host_that_was_warmed_up_serves_the_first_run(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("hello", [{"ansible.builtin.debug": {"msg": "hello"}}])
        terms = PlayTerms(Gvk("test.example.com", "v1", "Case"), Play(role, is_role=True))
        await shop.runner.warm_up(terms)
        host = shop.host_pid
        result = await shop.run(role)
        assert (result.way, result.succeeded) == ("warm", True)
        assert shop.host_pid == host


async def test_host_stays_in_no_folder_that_is_removed(tmp_path: Path) -> None:
    """Ansible parses no file where there is no folder to be in: role files were never ready ahead."""
    async with workshop(tmp_path) as shop:
        role = shop.role("hello", [{"ansible.builtin.debug": {"msg": "hello"}}])
        terms = PlayTerms(Gvk("test.example.com", "v1", "Case"), Play(role, is_role=True))
        await shop.runner.warm_up(terms)
        assert _has_folder(shop.host_pid)


async def test_role_that_vanished_is_left_to_its_first_run(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        terms = PlayTerms(
            Gvk("test.example.com", "v1", "Case"), Play(tmp_path / "no", is_role=True)
        )
        await shop.runner.warm_up(terms)
        assert shop.hosts.pids == ()


async def test_stop_does_not_wait_for_a_host_that_is_warming_up(tmp_path: Path) -> None:
    """It reads nothing while it imports Ansible, so a host that hangs there would hold up the stop."""
    os.mkfifo(gate := tmp_path / "gate")
    (imported := tmp_path / "imported").mkdir()
    (imported / "sitecustomize.py").write_text(f"open({str(gate)!r}).read()\n")
    hanging = {"PYTHONPATH": str(imported)}
    async with workshop(tmp_path, environment=hanging) as shop:
        role = shop.role("hello", [{"ansible.builtin.debug": {"msg": "hello"}}])
        terms = PlayTerms(Gvk("test.example.com", "v1", "Case"), Play(role, is_role=True))
        warming_up = asyncio.create_task(shop.runner.warm_up(terms))
        (host,) = await until(lambda: shop.hosts.pids, "a host that warms up")
        closing = threading.Thread(target=shop.hosts.close, args=(_LONGER_THAN_THE_TEST_S,))
        closing.start()
        try:
            await until(lambda: not closing.is_alive(), "the end of the host")
            assert not _has_folder(host)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(host, signal.SIGKILL)
            closing.join()
            await warming_up


async def test_home_that_cannot_be_written_costs_no_speed(tmp_path: Path) -> None:
    """As in a container whose root filesystem is read-only."""
    no_home = {"HOME": "/dev/null", "ANSIBLE_HOME": "/dev/null/.ansible"}
    async with workshop(tmp_path, environment=no_home) as shop:
        result = await shop.run(shop.role("hello", [{"ansible.builtin.debug": {"msg": "hello"}}]))
        assert (result.way, result.succeeded) == ("warm", True)


def _has_folder(pid: int) -> bool:
    return Path(f"/proc/{pid}/cwd").exists()
