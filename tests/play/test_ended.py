"""Runs that are ended: nothing of them survives, wherever it hid; and the loop never waits."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.runner import Ending
from tests.fixtures.eventually import eventually, eventually_async
from tests.play.plays import Workspace, play, started

pytestmark = pytest.mark.usefixtures("unpacked_modules_removed")


@pytest.fixture
def unpacked_modules_removed() -> Iterator[None]:
    """What killed modules had unpacked stays for two days; everything else must be gone at once."""
    yield
    for folder in Path(tempfile.gettempdir()).glob("ansible_*_payload_*"):
        shutil.rmtree(folder)


def processes(workspace: Workspace) -> dict[int, str]:
    """Every living process that belongs to a run on this workspace: id and command line."""
    mark = f"AWX_ISOLATED_DATA_DIR={workspace.root}/".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command:  # zombies have none
                    found[int(folder.name)] = command
    return found


def has_hidden_everywhere(workspace: Workspace) -> bool:
    """Whether the stuck role has got to where it hangs."""
    running = " ".join(processes(workspace).values())
    return all(f"sleep 8640{number}" in running for number in (1, 2, 3))


async def test_cancelling_ends_workers_jobs_and_daemons(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        await eventually_async(lambda: has_hidden_everywhere(workspace))
        handle.cancel("a newer generation came")
        result = await handle.result()
        assert processes(workspace) == {}
    assert (result.ending, result.reason_text) == (Ending.CANCELLED, "a newer generation came")
    assert not result.succeeded
    assert result.artifacts is not None
    assert (result.artifacts / "status").read_text() == "canceled"


@pytest.mark.nightly
async def test_run_ends_once_no_caller_waits_for_it(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        waiting = asyncio.create_task(handle.result())
        await eventually_async(lambda: has_hidden_everywhere(workspace))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert processes(workspace) == {}


@pytest.mark.nightly
async def test_closing_the_runner_ends_its_runs(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        await eventually_async(lambda: has_hidden_everywhere(workspace))
    assert processes(workspace) == {}
    assert (await handle.result()).ending is Ending.CANCELLED


async def test_a_run_that_is_cancelled_before_it_started_ends_too(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        handle.cancel("at once")
        result = await handle.result()
    assert result.ending is Ending.CANCELLED
    assert processes(workspace) == {}


@pytest.mark.parametrize(
    ("limit", "ending", "says"),
    [
        ("timeout_s", Ending.TIMED_OUT, "longer than 3 s "),
        ("no_progress_timeout_s", Ending.NO_PROGRESS, "no output for 3 s "),
    ],
)
def test_a_limit_ends_the_run_whole(
    workspace: Workspace, limit: str, ending: Ending, says: str
) -> None:
    result = play(workspace, "stuck", **{limit: 3.0}).result
    assert result.ending is ending
    assert says in result.reason_text
    assert processes(workspace) == {}


@pytest.mark.nightly
async def test_a_play_that_is_killed_from_outside_is_reported_as_such(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        await eventually_async(lambda: has_hidden_everywhere(workspace))
        plays = {pid: text for pid, text in processes(workspace).items() if "playbook -i" in text}
        # The first is the supervisor, the second the play, the rest its workers.
        os.kill(sorted(plays)[1], signal.SIGKILL)
        result = await handle.result()
        assert processes(workspace) == {}
    assert result.ending is Ending.KILLED
    assert "memory" in result.reason_text


@pytest.mark.nightly
async def test_nothing_survives_a_killed_supervisor(workspace: Workspace) -> None:
    async with started(workspace, "stuck") as (handle, _):
        await eventually_async(lambda: has_hidden_everywhere(workspace))
        (supervisor,) = [
            pid for pid, text in processes(workspace).items() if "supervisor.py" in text
        ]
        os.kill(supervisor, signal.SIGKILL)
        result = await handle.result()
        assert processes(workspace) == {}
    assert result.ending is Ending.KILLED


def test_nothing_survives_a_killed_engine(workspace: Workspace) -> None:
    engine = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from tests.play.plays import Workspace, started

        async def main():
            async with started(Workspace(Path({str(workspace.folder)!r})), "stuck") as (handle, _):
                await handle.result()

        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", engine]) as process:
        try:
            eventually(lambda: has_hidden_everywhere(workspace))
        finally:
            process.kill()
    eventually(lambda: not processes(workspace))


@pytest.fixture
def job_ended(workspace: Workspace, unpacked_modules_removed: None) -> Iterator[None]:
    """The job that a test leaves running on purpose ends with the test."""
    yield
    for pid in processes(workspace):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for folder in Path(tempfile.gettempdir()).glob("rolecall-run-*"):
        shutil.rmtree(folder)


def test_a_background_job_outlives_a_play_that_ended_by_itself(
    workspace: Workspace, job_ended: None
) -> None:
    assert play(workspace, "background").result.succeeded
    left = eventually(lambda: " ".join(processes(workspace).values()), lambda text: "86405" in text)
    assert "ansible-playbook -i" not in left


@pytest.mark.nightly
async def test_a_run_works_beside_the_loop_and_not_on_it(workspace: Workspace) -> None:
    # CPU time of the loop's thread, so that a busy machine cannot be mistaken for a busy loop.
    longest_s = 0.0

    async def watch() -> None:
        nonlocal longest_s
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.thread_time() - before)
            await asyncio.sleep(0.001)

    gc.collect()  # what other tests left is not this one's work
    async with started(workspace, "judged") as (handle, events):
        watching = asyncio.create_task(watch())
        assert (await handle.result()).succeeded
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    assert len(events) > 20
    assert longest_s < 0.02
