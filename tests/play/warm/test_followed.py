"""Whatever happens while a run is followed, it is not left to play while its key is retried."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.runner import Ending, RunEvent, RunResult
from rolecall.runner.recording import Recording
from rolecall.runner.warm import run_child, runner
from tests.play.warm.runs import (
    PATIENCE_S,
    KeptHosts,
    Workshop,
    debug,
    marked,
    request_for,
    shell,
    until,
    workshop,
)

# `select` knows no descriptor from here on.
FAR = 1024
# Looks like an event of ansible-runner, and is too deep for any reader of JSON.
DEEP = """
import base64, os
class FilterModule:
    def filters(self): return dict(deep=lambda text: print_deep() or text)
def print_deep():
    data = base64.b64encode(b"[" * 100_000).decode()
    os.write(1, f"\\x1b[K{data}\\x1b[{len(data)}D\\x1b[K\\n".encode())
"""


@contextlib.contextmanager
def many_descriptors() -> Iterator[None]:
    """Every low number is taken."""
    opened = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while opened[-1] < FAR + 50:
            opened.append(os.dup(opened[0]))
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)


def sleeping(tmp_path: Path) -> str:
    """A command that differs from all others."""
    return f"sleep 600.{os.getpid()}{tmp_path.name[-1]}"


async def test_run_is_followed_though_its_descriptors_are_beyond_what_select_knows(
    tmp_path: Path,
    kept: KeptHosts,
) -> None:
    with many_descriptors():
        async with workshop(tmp_path, kept=kept) as shop:
            result = await shop.run(shop.role("fine", [shell("true"), debug("fine")]))
            assert (result.succeeded, result.way) == (True, "warm")
            assert result.recap is not None and result.recap.ok == 2


async def test_run_whose_pidfd_found_no_descriptor_is_ended_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wait_begun, close = run_child.RunChild.wait_begun, run_child.RunChild.__exit__

    def wait_starved(self: run_child.RunChild, on_begun: Callable[[], None]) -> bool:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        return wait_begun(self, on_begun)

    def close_and_feed(self: run_child.RunChild, *error: object) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        close(self, *error)

    async with workshop(tmp_path) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        monkeypatch.setattr(run_child.RunChild, "wait_begun", wait_starved)
        monkeypatch.setattr(run_child.RunChild, "__exit__", close_and_feed)
        role = shop.role("sleeps", [shell(sleeping(tmp_path))])
        result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
        assert (result.ending, result.way) == (Ending.NO_RECAP, "warm")
        assert "Too many open files" in result.reason_text
        await until(lambda: not marked(sleeping(tmp_path)), "the run to be gone")
        monkeypatch.undo()
        assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"


async def test_run_with_unreadable_messages_is_ended_and_reported(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        tasks = [debug("{{ 'x' | deep }}"), shell(f"{sleeping(tmp_path)}; touch {{{{ work }}}}/on")]
        role = shop.role("deep", tasks, filter_plugins__deep_py=DEEP)
        result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
        assert (result.ending, result.way) == (Ending.NO_RECAP, "warm")
        assert "nested too deeply" in result.reason_text
        assert not marked(sleeping(tmp_path))
        assert not (tmp_path / "on").exists()
        assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"


@pytest.mark.parametrize("bug", [KeyError("a bug"), MemoryError()])
async def test_run_is_ended_and_reported_when_a_bug_of_ours_stops_following_it(
    tmp_path: Path, kept: KeptHosts, monkeypatch: pytest.MonkeyPatch, bug: BaseException
) -> None:
    class Broken(Recording):
        def feed(self, text: str) -> None:
            raise bug

    async with workshop(tmp_path, kept=kept) as shop:
        with monkeypatch.context() as patched:
            patched.setattr(runner, "Recording", Broken)
            role = shop.role("sleeps", [debug("speaks"), shell(sleeping(tmp_path))])
            result = await asyncio.wait_for(shop.run(role), PATIENCE_S)
        assert (result.ending, result.way) == (Ending.NO_RECAP, "warm")
        assert ("a bug" if isinstance(bug, KeyError) else "no memory") in result.reason_text
        assert not marked(sleeping(tmp_path))
        assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"


async def test_bug_of_an_event_listener_does_not_touch_the_run(
    tmp_path: Path, kept: KeptHosts
) -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reported.append(context)
    )

    def broken(_event: RunEvent) -> None:
        raise KeyError("a bug")

    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("fine", [debug("fine")])
        handle = await shop.runner.start(request_for(role, "run-1", tmp_path), broken)
        result = await handle.result()
    assert (result.succeeded, result.way) == (True, "warm")
    assert reported


@pytest.mark.nightly
def test_run_does_not_go_on_when_the_loop_was_closed_over_it(tmp_path: Path) -> None:
    shops: list[Workshop] = []

    async def leave() -> None:
        async with contextlib.AsyncExitStack() as stack:
            shop = await stack.enter_async_context(workshop(tmp_path))
            await shop.start(shop.role("sleeps", [debug("speaks"), shell(sleeping(tmp_path))]))
            await until(lambda: marked(sleeping(tmp_path)), "the task to begin")
            shops.append(shop)
            stack.pop_all()  # nothing is closed: the engine crashed

    asyncio.run(leave())
    try:
        asyncio.run(until(lambda: not marked(sleeping(tmp_path)), "the run to be ended"))
    finally:
        shops[0].hosts.close()


@pytest.mark.parametrize("way", ["warm", "stock"])
async def test_run_for_which_there_is_no_thread_is_reported_as_not_started(
    tmp_path: Path, kept: KeptHosts, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def none_left(_self: object) -> None:
        raise RuntimeError("can't start new thread")

    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("fine", [debug("fine")])
        chosen = shop.runner if way == "warm" else shop.runner._stock
        with monkeypatch.context() as patched:
            patched.setattr("threading.Thread.start", none_left)
            handle = await chosen.start(request_for(role, "1", tmp_path), lambda _event: None)
            result: RunResult = await asyncio.wait_for(handle.result(), PATIENCE_S)
        assert result.ending is Ending.NOT_STARTED
        assert "can't start new thread" in result.reason_text
        assert (await shop.run(role)).succeeded
