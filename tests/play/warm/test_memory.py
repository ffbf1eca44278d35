"""Runs that go the stock way after all wait for memory; what a run will take is known before."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.runner import Ending, PlayTerms, create_runner
from rolecall.runner.choice import ChosenRunner
from rolecall.runner.warm import HostLimits, WarmRunner
from rolecall.settings import STOCK_RUN_BYTES, WARM_RUN_BYTES, RunnerSettings
from rolecall.watches import Play
from tests.play.warm.runs import PATIENCE_S, kill, request_for, until, write

# Each leaves a file while it plays.
WAITS = """
- ansible.builtin.shell: >
    touch {{ work }}/playing-{{ name }}; while [ ! -e {{ work }}/go ]; do sleep 0.05; done
"""
NO_HOST = """
import sys
from pathlib import Path
is_host = "rolecall_warm/__main__.py" in " ".join(sys.orig_argv)
if is_host and Path(__file__).with_name("broken").exists():
    raise SystemExit("not today")
"""


@contextlib.asynccontextmanager
async def engine(folder: Path, memory_bytes: int) -> AsyncIterator[ChosenRunner]:
    """A runner with so much memory, whose host does not start while there is a file `broken`."""
    write(folder / "roles/waits/tasks/main.yml", WAITS)
    write(folder / "python/sitecustomize.py", NO_HOST)
    environment = {
        "PYTHONPATH": str(folder / "python"),
        "ANSIBLE_HOME": str(folder / "home"),
        "TMPDIR": str(folder),
        "PYTEST_CURRENT_TEST": "",
    }
    runner = create_runner(
        RunnerSettings(
            root=folder / "root",
            skip_facts=True,
            environment=environment,
            memory_bytes=memory_bytes,
        )
    )
    try:
        yield runner
    finally:
        (folder / "go").touch()
        await runner.close()


def terms_in(folder: Path, way: str | None = None) -> PlayTerms:
    play = Play(folder / "roles/waits", is_role=True)
    return PlayTerms(Gvk("test.example.com", "v1", "Case"), play, way=way)


def playing(folder: Path) -> int:
    return len(list(folder.glob("playing-*")))


@pytest.mark.nightly
async def test_runs_that_were_to_be_warm_and_are_stock_wait_for_each_others_memory(
    tmp_path: Path,
) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python/broken").touch()
    async with engine(tmp_path, 2 * STOCK_RUN_BYTES) as runner:
        role = tmp_path / "roles/waits"
        requests = [
            request_for(role, str(n), tmp_path, name=f"cr{n}", spec={"name": f"cr{n}"})
            for n in range(4)
        ]
        handles = [await runner.start(request, lambda _event: None) for request in requests]
        assert runner.bytes_of(terms_in(tmp_path)) == STOCK_RUN_BYTES
        await until(lambda: playing(tmp_path) == 2, "two of them to play")
        third, fourth = (
            h for h, n in zip(handles, range(4), strict=True) if not _plays(tmp_path, n)
        )
        fourth.cancel("no longer wanted")
        ended = await asyncio.wait_for(fourth.result(), PATIENCE_S)
        assert (ended.ending, ended.reason_text) == (Ending.CANCELLED, "no longer wanted")
        assert playing(tmp_path) == 2
        (tmp_path / "go").touch()
        results = [await h.result() for h in handles if h is not fourth]
        assert [(result.succeeded, result.way) for result in results] == [(True, "stock")] * 3
        assert (await third.result()).succeeded


def _plays(folder: Path, number: int) -> bool:
    return (folder / f"playing-cr{number}").exists()


async def test_expected_memory_follows_the_host_and_the_watch(tmp_path: Path) -> None:
    changes = 0

    def changed() -> None:
        nonlocal changes
        changes += 1

    async with engine(tmp_path, 10 * STOCK_RUN_BYTES) as runner:
        assert isinstance(runner._warm, WarmRunner)
        hosts = runner._warm.hosts
        hosts._limits = HostLimits(start_wait_s=PATIENCE_S)
        runner.on_way_change = changed
        terms, role = terms_in(tmp_path), tmp_path / "roles/waits"
        assert runner.bytes_of(terms) == STOCK_RUN_BYTES  # not known yet
        (tmp_path / "go").touch()
        handle = await runner.start(
            request_for(role, "1", tmp_path, spec={"name": "a"}), lambda _event: None
        )
        assert (await handle.result()).way == "warm"
        assert changes == 1
        assert runner.bytes_of(terms) == WARM_RUN_BYTES
        assert runner.bytes_of(terms_in(tmp_path, "stock")) == STOCK_RUN_BYTES
        (tmp_path / "python/broken").touch()
        for pid in hosts.pids:
            kill(pid)
        await until(lambda: runner.bytes_of(terms) == STOCK_RUN_BYTES, "the loss to be seen")
