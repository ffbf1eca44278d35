"""An engine killed as it enters system calls of its path: whoever starts next brings all to its end.

`KILLS=all` takes every call of the path, which is hours; else some, spread over it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.faulty_world import (
    FAULTS,
    KEPT,
    at_rest,
    converged,
    doubled_runs,
    gone_with_all,
    kept,
)
from tests.e2e.kinds import install, is_successful
from tests.e2e.test_ending import kubeconfigs_in, plays_of
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async
from tests.fixtures.figures import Figure
from tests.fixtures.traced import calls_of, killed_at, needs_strace, spread, traced

SOME = 4
# Those with which an engine looks at the world and changes it; waiting and memory are no steps.
STEPS = "openat,mkdir,rename,unlink,unlinkat,rmdir,sendto,sendmsg,write,clone,clone3,vfork,kill"


async def test_engine_killed_at_calls_of_its_path_is_followed_by_one_that_brings_all_to_its_end(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path, figure: Figure
) -> None:
    needs_strace()
    await install(api, crd_for(KEPT))
    temporary = tmp_path / "tmp"
    temporary.mkdir()

    def start() -> EngineProcess:
        return start_engine(FAULTS, environment={"TMPDIR": str(temporary)}).wait_ready()

    engine = start()
    await api.create(KEPT, kept(namespace, "first"))
    await converged(api, namespace, "first", "one")
    at_rest(engine)
    trace = tmp_path / "trace"
    with traced(engine.process.pid, f"--output={trace}", f"--trace={STEPS}"):
        await api.create(KEPT, kept(namespace, "looked-at"))
        await converged(api, namespace, "looked-at", "one")
        at_rest(engine)
    path = calls_of(trace)
    assert len(path) > 10
    calls = path if os.environ.get("KILLS") == "all" else spread(path, SOME)
    killed, longest_s = 0, 0.0
    for number, call in enumerate(calls):
        name, trail = f"cr-{number}", tmp_path / f"trail-{number}"
        with killed_at(engine.process.pid, call):
            await api.create(KEPT, kept(namespace, name, trail=str(trail)))
            await eventually_async(
                lambda each=engine, name=name: is_over(each, api, namespace, name)
            )
        if engine.process.poll() is None:
            await converged(api, namespace, name, "one")
            continue
        killed += 1
        eventually(lambda engine=engine: not plays_of(engine.artifacts))
        left = kubeconfigs_in(temporary)
        began = time.monotonic()
        engine = start()
        await converged(api, namespace, name, "one")
        longest_s = max(longest_s, time.monotonic() - began)
        at_rest(engine)
        assert not doubled_runs(trail), (call, trail.read_text())
        assert not left & kubeconfigs_in(temporary), call
    figure("killed at", killed, f"of {len(path)} calls")
    figure("converged after a start in at most", longest_s, "s")
    assert killed >= len(calls) / 2
    for name in ("first", "looked-at", *(f"cr-{number}" for number in range(len(calls)))):
        await api.delete(KEPT, namespace, name)
        await gone_with_all(api, namespace, name)


async def is_over(engine: EngineProcess, api: Client, namespace: str, name: str) -> bool:
    """Whether it died, or has told of its run without coming to that call."""
    return engine.process.poll() is not None or is_successful(await api.get(KEPT, namespace, name))
