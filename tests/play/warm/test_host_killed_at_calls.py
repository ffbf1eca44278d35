"""A host killed as it enters any of the system calls of its path costs no run and doubles none.

`KILLS=all` takes all of them, which is minutes; else some of each part of the path.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from tests.fixtures.figures import Figure
from tests.fixtures.traced import Call, calls_of, killed_at, needs_strace, spread, traced
from tests.play.warm.runs import Workshop, is_alive, kill, shell, until, workshop

SOME = 6


def times_done(folder: Path) -> int:
    path = folder / "done"
    return len(path.read_text().splitlines()) if path.exists() else 0


def is_gone(shop: Workshop, pid: int) -> bool:
    """Also for the runner, which would name it as its host until then."""
    return not is_alive(pid) and pid not in shop.hosts.pids


def left_in(folder: Path) -> list[Path]:
    """Credentials and sockets that are no longer used."""
    return [each for each in folder.rglob("*") if "kubeconfig" in each.name or each.is_socket()]


async def path_of_a_run(shop: Workshop, role: Path, trace: Path) -> list[Call]:
    """What the host does for one run."""
    await shop.run(role)
    with traced(shop.host_pid, f"--output={trace}"):
        await shop.run(role)
    return calls_of(trace)


@pytest.mark.nightly
async def test_host_killed_at_calls_of_its_path_costs_no_run_and_doubles_none(
    tmp_path: Path, figure: Figure
) -> None:
    needs_strace()
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell("echo done >> {{ work }}/done")])
        path = await path_of_a_run(shop, role, tmp_path / "trace")
        assert len(path) > 10
        calls = path if os.environ.get("KILLS") == "all" else spread(path, SOME)
        killed = 0
        for call in calls:
            while not shop.hosts.pids:  # a host that died is not started again at once
                assert (await shop.run(role)).succeeded
            host, before = shop.host_pid, times_done(tmp_path)
            with killed_at(host, call):
                result = await shop.run(role)
            was_killed = not is_alive(host)
            killed += was_killed
            assert result.succeeded, (call, result)
            assert times_done(tmp_path) == before + 1, call
            if not was_killed:
                kill(host)  # the next path begins at its beginning, too
            await until(partial(is_gone, shop, host), "the host to be gone")
        figure("killed at", killed, f"of {len(path)} calls")
        assert killed >= len(calls) * 0.6
    assert not left_in(tmp_path)
