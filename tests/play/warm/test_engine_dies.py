"""An engine that is killed takes its warm runs along: the next one will run their CRs anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.runner.temporary import remove_abandoned
from rolecall_base.processes import children_of
from tests.fixtures.eventually import eventually
from tests.play.warm.runs import PATIENCE_S, is_alive, kill, marked

ENGINE = """
import asyncio
from pathlib import Path
from tests.play.warm.runs import shell, workshop

async def main():
    folder = Path({folder!r})
    async with workshop(folder) as shop:
        await shop.run(shop.role("fine", [shell("true")]))
        (folder / "host").write_text(str(shop.host_pid))
        waits = "touch {{{{ work }}}}/began; while [ ! -e {{{{ work }}}}/go ]; do sleep 0.02; done"
        await shop.run(shop.role("waits", [shell(waits), shell("touch {{{{ work }}}}/second")]))

asyncio.run(main())
"""


STANDING = """
import asyncio
from pathlib import Path
from tests.play.warm.runs import debug, shell, workshop

class Slot:
    def leave(self): pass
    def want(self, on_given): (folder / "began").touch()

async def main():
    async with workshop(folder) as shop:
        await shop.run(shop.role("fine", [shell("true")]))
        (folder / "host").write_text(str(shop.host_pid))
        again = {{**debug("x"), "loop": [1, 2], "loop_control": {{"pause": 0.5}}}}
        tasks = [again, shell("touch {{{{ work }}}}/second")]
        await shop.run(shop.role("waits", tasks), slot=Slot())

folder = Path({folder!r})
asyncio.run(main())
"""


def end_engine(engine: int, host: int, child: int) -> None:
    kill(engine)


def end_engine_and_host(engine: int, host: int, child: int) -> None:
    kill(engine)
    kill(host)


def end_both_while_the_host_ends_the_run(engine: int, host: int, child: int) -> None:
    """It freezes what it is about to kill, and does not come to that."""
    kill(engine, signal.SIGSTOP)
    kill(child, signal.SIGSTOP)
    kill(host)
    kill(engine)


@pytest.mark.nightly
@pytest.mark.parametrize("text", [ENGINE, STANDING], ids=["at work", "in line for a slot"])
@pytest.mark.parametrize(
    "end", [end_engine, end_engine_and_host, end_both_while_the_host_ends_the_run]
)
def test_nothing_goes_on_when_the_engine_is_killed(
    tmp_path: Path, end: Callable[[int, int, int], None], text: str
) -> None:
    engine = text.format(folder=str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", engine], env=environment) as process:
        eventually((tmp_path / "began").exists, timeout_s=PATIENCE_S)
        host = int((tmp_path / "host").read_text())
        (child,) = [pid for pid in children_of(host) if is_alive(pid)]
        end(process.pid, host, child)
    (tmp_path / "go").touch()
    eventually(lambda: not is_alive(host) and not is_alive(child))
    assert not (tmp_path / "second").exists()
    eventually(lambda: not marked(str(tmp_path)))
    remove_abandoned([str(tmp_path)])
    assert not [path.name for path in tmp_path.glob("rolecall-*")]
