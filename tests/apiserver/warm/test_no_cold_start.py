"""The hot path starts no program: a warm run of a whole role is a fork, and nothing is executed.

Python's own audit hooks report what would start one; every fork of the host inherits them, and no
role can remove them. A program that is started shows, too, or the test would prove nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.apiserver.warm.conftest import Bench
from tests.play.warm.runs import write

OpenBench = Callable[..., AbstractAsyncContextManager[Bench]]
FOUR_TASKS = Path(__file__).parents[3] / "bench" / "project" / "roles" / "four"
# In the host alone, and opened anew for each line: a run child closes what it inherits.
AUDIT = """
import os, sys
STARTS = ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn",
          "subprocess.Popen")
def note(event, arguments):
    if event in STARTS:
        log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(log, (event + "\\n").encode())
        os.close(log)
if "rolecall_warm/__main__.py" in " ".join(sys.orig_argv):
    sys.addaudithook(note)
"""


async def test_warm_run_of_four_tasks_starts_nothing(open_bench: OpenBench, tmp_path: Path) -> None:
    log = tmp_path / "starts"
    write(tmp_path / "python" / "sitecustomize.py", AUDIT.format(log=str(log)))
    async with open_bench(environment={"PYTHONPATH": str(tmp_path / "python")}) as bench:
        cr = await bench.case("one", size=1)
        runs = 3
        for number in range(1 + runs):
            if number == 1:
                log.write_text("")  # the first one waited for the host, which had to be started
            result = await bench.run(FOUR_TASKS, cr)
            assert (result.way, result.succeeded) == ("warm", True), result.failures
            assert result.recap is not None and result.recap.ok == 4
        started = Counter(log.read_text().split())
        assert set(started) == {"os.fork"}
        # One for each run, and one to stand by for each next one.
        assert started["os.fork"] <= 2 * runs + 1
        program = bench.shop.role("program", [{"ansible.builtin.command": "true"}])
        assert (await bench.run(program, cr)).succeeded
        assert Counter(log.read_text().split())["subprocess.Popen"] >= 1
