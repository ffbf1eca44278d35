"""The process of a proof: reads its assignment, asks before each run, reports the verdict.

A process of its own, so that all of it is niced, and that its end is the end of all of it: when the
engine hangs up, for whatever reason, the runs and the host are ended. One line of JSON each way.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import resource
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

from rolecall.runner.warm.proof.both_ways import Assignment, BothWays
from rolecall.runner.warm.proof.verdict import ProofVerdict
from rolecall_base import processes

# A tenth of a run's share of a busy CPU: other work does not suffer, and it still comes to an end.
_NICENESS = 10
# Ending runs takes moments; a run that is not gone by then hangs.
_PATIENCE_S = 15.0


def main() -> int:
    os.nice(_NICENESS)
    processes.set_name("rolecall-proof")
    received = json.loads(sys.stdin.readline())
    assignment = Assignment(
        received["mark"], Path(received["folder"]), received["collections_path"]
    )
    try:
        verdict = asyncio.run(_prove(assignment))
        _report({"op": "verdict", **dataclasses.replace(verdict, cpu_s=_cpu_s()).as_json()})
    except asyncio.CancelledError:
        pass
    finally:  # its maker may have been killed
        shutil.rmtree(assignment.folder, ignore_errors=True)
    return 0


async def _prove(assignment: Assignment) -> ProofVerdict:
    loop, go = asyncio.get_running_loop(), asyncio.Event()
    task = asyncio.current_task()
    assert task is not None

    def listen() -> None:
        for _ in sys.stdin:
            loop.call_soon_threadsafe(go.set)
        watchdog = threading.Timer(_PATIENCE_S, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()
        with contextlib.suppress(RuntimeError):  # it is ending already
            loop.call_soon_threadsafe(task.cancel)

    async def may_start(run: str) -> None:
        go.clear()
        _report({"op": "step", "run": run})
        await go.wait()

    threading.Thread(target=listen, name="engine", daemon=True).start()
    return await BothWays(assignment, may_start).verdict()


def _report(message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the engine listens no more
        print(json.dumps(message), flush=True)  # noqa: T201 - what the engine reads


def _cpu_s() -> float:
    """Of this process and of all that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(each.ru_utime + each.ru_stime for each in used), 1)


if __name__ == "__main__":
    sys.exit(main())
