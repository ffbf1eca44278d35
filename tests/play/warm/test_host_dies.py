"""A host killed at any instant: no run is lost, none is done twice, and none lies about its end."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from pathlib import Path

import pytest

from rolecall.runner import Ending
from rolecall.runner.warm import run_child
from rolecall_base.processes import children_of, descendants_of
from tests.play.warm.runs import (
    PATIENCE_S,
    debug,
    descriptors,
    is_alive,
    kill,
    marked,
    own_number,
    shell,
    spare_of,
    until,
    workshop,
)

# Parts of the time that a run takes.
MOMENTS = [
    0.5,
    *(pytest.param(at, marks=pytest.mark.nightly) for at in (0.0, 0.1, 0.25, 0.75, 0.95)),
]
ONCE = "echo done >> {{ work }}/done"


def _times_done(folder: Path) -> int:
    path = folder / "done"
    return len(path.read_text().splitlines()) if path.exists() else 0


async def test_host_killed_between_runs_is_replaced(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell(ONCE)])
        first = await shop.run(role)
        before = shop.host_pid
        kill(before)
        await until(lambda: not is_alive(before), "the host to be gone")
        second = await shop.run(role)
        third = await shop.run(role)
        assert [first.way, third.way] == ["warm", "warm"]
        assert second.succeeded and third.succeeded
        assert _times_done(tmp_path) == 3
        assert shop.host_pid != before


async def test_host_killed_during_a_run_leaves_the_run_alone(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        waits = "touch {{ work }}/began; while [ ! -e {{ work }}/go ]; do sleep 0.02; done"
        role = shop.role("waits", [shell(waits), shell(ONCE), debug("after")])
        handle, events = await shop.start(role)
        await until((tmp_path / "began").exists, "the task to begin")
        kill(shop.host_pid)
        (tmp_path / "go").touch()
        result = await handle.result()
        assert result.succeeded and result.way == "warm"
        assert result.recap is not None and result.recap.ok == 3
        assert [event for event in events if event.name == "playbook_on_stats"]
        assert _times_done(tmp_path) == 1


@pytest.mark.nightly
async def test_order_that_no_child_took_goes_the_stock_way_once(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell(ONCE)])
        await shop.run(role)
        kill(shop.host_pid, signal.SIGSTOP)  # it gets the order, and never acts on it
        handle, _events = await shop.start(role)
        await asyncio.sleep(0)
        kill(shop.host_pid, signal.SIGKILL)
        result = await handle.result()
        assert result.succeeded
        assert _times_done(tmp_path) == 2


@pytest.mark.nightly
async def test_child_that_hangs_before_its_first_word_never_begins_what_went_the_stock_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell(ONCE)])
        await shop.run(role)
        hangs = await spare_of(shop)
        kill(hangs, signal.SIGSTOP)
        monkeypatch.setattr(run_child, "_BEGIN_TIMEOUT_S", 0.5)
        result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
        assert result.succeeded and result.way == "stock"
        kill(hangs, signal.SIGCONT)
        await until(lambda: not is_alive(hangs), "it to give up")
        assert _times_done(tmp_path) == 2


@pytest.mark.nightly
async def test_plan_whose_child_never_begins_is_made_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no stock way to go."""
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [debug("fine")])
        await shop.run(role)
        hangs = await spare_of(shop)
        kill(hangs, signal.SIGSTOP)
        monkeypatch.setattr(run_child, "_BEGIN_TIMEOUT_S", 2.0)
        planned = shop.run(role, plan_notes=tmp_path / "left-out.jsonl")
        result = await asyncio.wait_for(planned, PATIENCE_S)
        kill(hangs, signal.SIGCONT)
        assert result.succeeded and result.way == "warm", result


async def test_run_child_killed_is_reported_as_killed_and_leaves_nothing(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        word = f"sleep {own_number()}"
        tasks = [shell(f"setsid {word} & echo $PPID > {{{{ work }}}}/pid; sleep 600; true")]
        role = shop.role("killed", tasks)
        handle, _events = await shop.start(role)
        await until(lambda: (tmp_path / "pid").exists() and marked("sleep 600"), "the task")
        (child,) = [pid for pid in children_of(shop.host_pid) if is_alive(pid)]
        kill(child)
        result = await handle.result()
        assert result.ending is Ending.KILLED
        assert result.rc is None and "SIGKILL" in result.reason_text
        await until(lambda: not marked(word), "what the run started to be gone")
        assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"


@pytest.mark.nightly
async def test_run_child_killed_after_its_host_leaves_nothing(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        waits = "touch {{ work }}/began; while [ ! -e {{ work }}/go ]; do sleep 0.02; done"
        tasks = [shell(f"{waits}; touch {{{{ work }}}}/went_on"), debug("after")]
        handle, _events = await shop.start(shop.role("killed", tasks))
        await until((tmp_path / "began").exists, "the task to begin")
        host = shop.host_pid
        (child,) = [pid for pid in children_of(host) if is_alive(pid)]
        below = descendants_of(child)
        kill(host)
        await until(lambda: not is_alive(host), "the host to be gone")
        kill(child)
        assert (await handle.result()).ending is Ending.KILLED
        await until(lambda: not any(map(is_alive, below)), "what the run started to be gone")
        (tmp_path / "go").touch()
        assert not marked(f"{tmp_path}/go") and not (tmp_path / "went_on").exists()


async def test_host_killed_while_it_starts_is_started_again_at_once(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:

        def hosts() -> set[int]:
            return set(marked("rolecall_warm/__main__.py")).intersection(children_of(os.getpid()))

        others = hosts()  # of a test before, that end still
        handle, _events = await shop.start(shop.role("fine", [debug("fine")]))
        (host,) = await until(lambda: hosts() - others, "the host's start")
        kill(host)
        assert (await handle.result()).way == "warm"
        assert shop.host_pid != host


@pytest.mark.nightly
async def test_host_stays_though_a_spare_process_died_with_its_order(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell(ONCE)])
        await shop.run(role)
        host, spare = shop.host_pid, await spare_of(shop)
        kill(spare, signal.SIGSTOP)
        before = descriptors(host)
        handle, _events = await shop.start(role)
        await until(lambda: descriptors(host) < before, "the spare process to have its order")
        kill(spare)
        assert (await handle.result()).way == "stock"
        assert (await shop.run(role)).way == "warm" and shop.host_pid == host
        assert _times_done(tmp_path) == 3


@pytest.mark.nightly
async def test_host_stays_though_it_had_no_descriptor_for_an_order(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("once", [shell(ONCE)])
        await shop.run(role)
        host = shop.host_pid
        await spare_of(shop)
        usual = resource.prlimit(host, resource.RLIMIT_NOFILE)
        resource.prlimit(host, resource.RLIMIT_NOFILE, (descriptors(host), usual[1]))
        assert (await shop.run(role)).way == "stock"
        resource.prlimit(host, resource.RLIMIT_NOFILE, usual)
        assert (await shop.run(role)).way == "warm" and shop.host_pid == host
        assert _times_done(tmp_path) == 3


async def test_host_that_cannot_start_costs_only_speed(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'rolecall_warm/__main__.py' in ' '.join(sys.orig_argv):\n"
        "    raise SystemExit('not today')\n"
    )
    environment = {"PYTHONPATH": str(broken)}
    async with workshop(tmp_path, environment=environment) as shop:
        result = await shop.run(shop.role("fine", [debug("fine")]))
        assert result.succeeded and result.way == "stock"


@pytest.mark.parametrize("moment", MOMENTS)
async def test_host_killed_at_any_instant_costs_no_run_and_doubles_none(
    tmp_path: Path, moment: float
) -> None:
    async with workshop(tmp_path) as shop:
        tasks = [shell(ONCE), debug("between"), {"ansible.builtin.ping": None}, debug("after")]
        role = shop.role("once", tasks)
        usual_s = (await shop.run(role)).seconds
        usual_s = min(usual_s, (await shop.run(role)).seconds)
        host = shop.host_pid
        handle, _events = await shop.start(role)
        await asyncio.sleep(usual_s * moment)  # not a wait: the instant is what is tried
        kill(host)
        result = await handle.result()
        assert result.succeeded
        assert result.recap is not None and result.recap.ok == 4
        assert _times_done(tmp_path) == 3
