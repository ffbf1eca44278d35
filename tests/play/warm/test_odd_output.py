"""What a play prints may be anything: its run ends with a true result, and the next one is as usual."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.runner import Ending, RunResult, inputs
from rolecall.runner.follow import RunStop, follow
from rolecall.runner.limits import TimeLimits
from rolecall.runner.stock.process import SupervisedProcess
from rolecall_base.variables import SCRATCH_VARIABLE
from tests.play.warm.runs import (
    PATIENCE_S,
    KeptHosts,
    Workshop,
    debug,
    request_for,
    until,
    workshop,
)

LONG = 50 * 1024 * 1024
# The same in a play of the warm way, and instead of one of the stock way.
ODD = """
import base64, os, sys
def odd(what):
    globals()[what]()
    return what
def write(data):
    while data:
        data = data[os.write(1, data):]
def garbage():
    write(bytes(range(256)) * 40 + b"\\x1b[K" + bytes(range(255, -1, -1)) * 40)
def long_line():
    for _ in range(50): write(b"x" * (1 << 20))
    write(b"\\n")
def deep():
    data = base64.b64encode(b"[" * 100_000).decode()
    write(f"\\x1b[K{data}\\x1b[{len(data)}D\\x1b[K\\n".encode())
def closed():
    os.close(1), os.close(2)
class FilterModule:
    def filters(self): return dict(odd=odd)
if __name__ == "__main__":
    odd(os.environ["ODD"])
    os._exit(3)
"""
CASES = [
    "garbage",
    *(pytest.param(each, marks=pytest.mark.nightly) for each in ("long_line", "deep")),
    "closed",
]


@pytest.mark.parametrize("what", CASES)
async def test_warm_run_that_prints_something_odd_ends_with_a_true_result(
    tmp_path: Path, kept: KeptHosts, what: str
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        tasks = [debug(f"{{{{ '{what}' | odd }}}}"), debug("after")]
        role = shop.role("odd", tasks, filter_plugins__odd_py=ODD)
        result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
        assert result.way == "warm"
        _check(what, result, succeeds=True)
        next_one = await shop.run(shop.role("fine", [debug("fine")]))
        assert (next_one.succeeded, next_one.way) == (True, "warm")


@pytest.mark.nightly
@pytest.mark.parametrize("what", CASES)
async def test_stock_run_that_prints_something_odd_ends_with_a_true_result(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ansible-playbook"
    program.write_text(f"#!{sys.executable}\n{ODD}")
    program.chmod(0o700)
    async with workshop(tmp_path, environment={"ODD": what}) as shop:
        with monkeypatch.context() as patched:
            patched.setattr(inputs, "_ansible_playbook", lambda _env: str(program))
            result = await _run_stock(shop)
        _check(what, result, succeeds=False)
        assert (await _run_stock(shop)).succeeded


async def _run_stock(shop: Workshop) -> RunResult:
    role = shop.role("fine", [debug("fine")])
    request = request_for(role, f"stock-{os.urandom(4).hex()}", shop.folder)
    handle = await shop.runner._stock.start(request, lambda _event: None)
    return await asyncio.wait_for(handle.result(), PATIENCE_S)


def _check(what: str, result: RunResult, *, succeeds: bool) -> None:
    if what == "deep":
        assert result.ending is Ending.NO_RECAP
        assert "nested too deeply" in result.reason_text
        return
    assert result.artifacts is not None
    if what == "long_line":
        assert (result.artifacts / "stdout").stat().st_size > LONG
    if succeeds and what != "closed":
        assert result.succeeded, result.reason_text
    else:  # without its output there is no recap, whatever the play came to
        assert result.ending is Ending.NO_RECAP
        assert "before a recap" in result.reason_text


def test_output_that_a_daemon_fills_for_ever_does_not_hold_up_the_end(tmp_path: Path) -> None:
    env = {**os.environ, SCRATCH_VARIABLE: str(tmp_path / "scratch")}
    daemon = "cat /dev/zero & sleep 0.2; exit 0"
    letters = 0

    def feed(text: str) -> None:
        nonlocal letters
        letters += len(text)
        assert letters < 1 << 26, "it is read for ever"
        threading.Event().wait(0.002)  # a slow disk: the daemon is faster

    command, clock = ["/bin/sh", "-c", daemon], SystemClock()
    with (
        contextlib.closing(RunStop()) as stop,
        SupervisedProcess(command, env, tmp_path, clock) as process,
    ):
        ended = follow(process, TimeLimits(), stop, feed, clock)
    assert ended.rc == 0


async def test_deep_result_of_a_task_does_not_leave_its_run_playing(tmp_path: Path) -> None:
    deep = """
def nested(depth):
    value = "the end"
    for _ in range(depth): value = {"in": value}
    return value
class FilterModule:
    def filters(self): return dict(nested=nested)
"""
    async with workshop(tmp_path) as shop:
        for depth in (100, 400, 900):
            tasks = [{"ansible.builtin.set_fact": {"much": f"{{{{ {depth} | nested }}}}"}}]
            role = shop.role(f"deep{depth}", [*tasks, debug("after")], filter_plugins__d_py=deep)
            result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
            assert result.succeeded or result.failures or result.reason_text
            await until(lambda: not shop.runner._runs, "the run to be over")
        assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"
