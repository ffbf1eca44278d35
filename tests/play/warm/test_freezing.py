"""A run that is frozen does nothing more, whatever it started, and is ended afterwards as any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import Ending
from tests.play.warm.runs import (
    KeptHosts,
    is_alive,
    marked,
    own_number,
    request_for,
    shell,
    state_of,
    until,
    workshop,
)

# D: a shell waits in vfork for its child, which stands before it became another program.
STANDING = {"T", "D"}


@pytest.mark.parametrize("way", ["warm", pytest.param("stock", marks=pytest.mark.nightly)])
async def test_all_processes_of_a_frozen_run_stand_still(
    tmp_path: Path, kept: KeptHosts, way: str
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        word = own_number()
        tasks = [
            {**shell(f"sleep {word}"), "async": 900, "poll": 0},
            shell(
                f"setsid nohup sh -c 'while :; do : {word}; done' >/dev/null 2>&1 &"
                f" touch {{{{ work }}}}/began; sleep {word}"
            ),
        ]
        runner = shop.runner if way == "warm" else shop.runner._stock
        request = request_for(shop.role("busy", tasks), "1", tmp_path)
        handle = await runner.start(request, lambda _: None)
        await until((tmp_path / "began").exists, "the task to begin")
        await until(lambda: len(marked(word)) >= 3, "its processes")

        handle.freeze()

        found = marked(word)
        await until(lambda: {state_of(pid) for pid in found} <= STANDING, "all of them to stand")
        assert marked(word) == found, "none was begun since"
        handle.cancel("its shard was lost")
        result = await handle.result()
        assert (result.ending, result.reason_text) == (Ending.CANCELLED, "its shard was lost")
        assert result.way == way
        await until(lambda: not any(map(is_alive, found)), "its processes to be gone")


async def test_run_that_is_over_or_has_not_begun_is_frozen_in_vain(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _ = await shop.start(shop.role("short", [shell("true")]))
        handle.freeze()
        assert (await handle.result()).succeeded
        handle.freeze()
