"""Two hundred runs at a time, with no more descriptors than a process usually may have."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.play.warm.runs import debug, descriptors, until, workshop

RUNS = 200
DESCRIPTORS = 4096
# Waits in the play's own process, where waiting costs next to nothing.
WAITS = """
import time
from pathlib import Path
def wait(name, work):
    Path(work, "playing-" + name).touch()
    while not Path(work, "go").exists():
        time.sleep(0.5)
    return name
class FilterModule:
    def filters(self): return dict(wait=wait)
"""


@contextlib.contextmanager
def usual_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.nightly
async def test_two_hundred_runs_at_a_time_are_followed_to_their_end(tmp_path: Path) -> None:
    with usual_descriptors():
        async with workshop(tmp_path) as shop:
            role = shop.role(
                "waits", [debug("{{ name | wait(work) }}")], filter_plugins__w_py=WAITS
            )
            await shop.run(shop.role("fine", [debug("fine")]))
            before, host = descriptors("self"), shop.host_pid
            names = [f"cr{number}" for number in range(RUNS)]
            started = [await shop.start(role, name=name, spec={"name": name}) for name in names]
            await until(lambda: len(list(tmp_path.glob("playing-*"))) == RUNS, "all to play")
            assert descriptors("self") > 1024
            (tmp_path / "go").touch()
            results = await asyncio.gather(*(handle.result() for handle, _events in started))
            assert {(result.succeeded, result.way) for result in results} == {(True, "warm")}
            assert shop.host_pid == host
            assert descriptors("self") == before
