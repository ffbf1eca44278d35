"""A run that is ended takes everything along that it started; one that ends by itself does not."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from rolecall.runner import Ending
from rolecall_base.processes import children_of
from tests.play.warm.runs import (
    KeptHosts,
    debug,
    is_alive,
    kill,
    marked,
    own_number,
    shell,
    until,
    workshop,
)


async def test_cancelled_run_leaves_no_process(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        word = own_number()
        sleep = f"sleep {word}"
        tasks = [
            {**shell(sleep), "async": 900, "poll": 0},
            shell(f"setsid nohup {sleep} >/dev/null 2>&1 & touch {{{{ work }}}}/began; {sleep}"),
        ]
        handle, _events = await shop.start(shop.role("sleeps", tasks))
        await until((tmp_path / "began").exists, "the task to begin")
        await until(lambda: len(marked(f"sleep\0{word}")) >= 3, "its processes")
        handle.cancel("deleted")
        result = await handle.result()
        assert result.ending is Ending.CANCELLED and result.reason_text == "deleted"
        await until(lambda: not marked(word), "its processes to be gone")


async def test_cancelling_the_wait_cancels_the_run(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        word = f"sleep {own_number()}"
        handle, _events = await shop.start(shop.role("sleeps", [shell(word)]))
        waiting = asyncio.create_task(handle.result())
        await until(lambda: marked(word), "its process")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not marked(word)


async def test_cancel_before_the_host_is_warm_is_not_forgotten(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _events = await shop.start(shop.role("sleeps", [shell("sleep 600")]))
        handle.cancel("too late")
        result = await handle.result()
        assert result.ending is Ending.CANCELLED


async def test_run_over_its_time_is_ended(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        result = await shop.run(shop.role("sleeps", [shell("sleep 600")]), timeout_s=0.5)
        assert result.ending is Ending.TIMED_OUT
        assert "longer than 0.5 s" in result.reason_text


async def test_silent_run_is_ended(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        role = shop.role("sleeps", [debug("speaks"), shell("sleep 600")])
        result = await shop.run(role, no_progress_timeout_s=2.0)
        assert result.ending is Ending.NO_PROGRESS


async def test_fork_bomb_is_ended_whole(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        word = own_number()
        bomb = f"i=0; while [ $i -lt 300 ]; do setsid sleep {word} & i=$((i+1)); done; sleep {word}"
        handle, _events = await shop.start(shop.role("bomb", [shell(bomb)]))
        await until(lambda: len(marked(f"sleep\0{word}")) > 50, "many processes")
        handle.cancel("enough")
        assert (await handle.result()).ending is Ending.CANCELLED
        await until(lambda: not marked(f"sleep\0{word}"), "all to be gone")


async def test_background_job_of_a_finished_run_lives_on(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        job = "while [ ! -e {{ work }}/stop ]; do sleep 0.05; done; touch {{ work }}/stopped"
        role = shop.role("job", [{**shell(job), "async": 900, "poll": 0}])
        result = await shop.run(role)
        assert result.succeeded and result.way == "warm"
        await shop.run(shop.role("fine", [debug("fine")]))
        (tmp_path / "stop").touch()
        await until((tmp_path / "stopped").exists, "the job to go on to its end")


@pytest.mark.nightly
async def test_background_job_lives_on_though_another_run_was_killed_in_the_same_moment(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        job = "while [ ! -e {{ work }}/stop ]; do sleep 0.05; done; touch {{ work }}/stopped"
        wait = "touch {{ work }}/waits; while [ ! -e {{ work }}/go ]; do sleep 0.02; done"
        finishes = shop.role("finishes", [{**shell(job), "async": 900, "poll": 0}, shell(wait)])
        word = own_number()
        left = f"setsid sleep {word} & echo $PPID > {{{{ work }}}}/pid; sleep {word}; true"
        killed = shop.role("killed", [shell(left)])
        await shop.run(shop.role("fine", [debug("fine")]))
        finishing, _ = await shop.start(finishes, name="finishes")
        await until((tmp_path / "waits").exists, "the job to be left behind")
        others = set(children_of(shop.host_pid))
        dying, _ = await shop.start(killed, name="killed")
        await until(lambda: len(marked(f"sleep\0{word}")) == 2, "what the other run started")
        (child,) = [pid for pid in set(children_of(shop.host_pid)) - others if is_alive(pid)]
        host = shop.host_pid
        kill(host, signal.SIGSTOP)  # so that it finds both ended at once
        (tmp_path / "go").touch()
        assert (await finishing.result()).succeeded
        kill(child)
        assert (await dying.result()).ending is Ending.KILLED
        kill(host, signal.SIGCONT)
        await until(lambda: not marked(f"sleep\0{word}"), "all of the killed run to be gone")
        (tmp_path / "stop").touch()
        await until((tmp_path / "stopped").exists, "the job to go on to its end")
        assert shop.host_pid == host


async def test_closing_the_runner_ends_runs_and_hosts(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        word = f"sleep {own_number()}"
        handle, _events = await shop.start(shop.role("sleeps", [shell(word)]))
        await until(lambda: marked(word), "its process")
        pid = shop.host_pid
    assert (await handle.result()).ending is Ending.CANCELLED
    await until(lambda: not marked(word) and not is_alive(pid), "both to be gone")
