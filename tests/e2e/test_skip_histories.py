"""The world with `skipUnchanged` is the world without, whatever happens to what a role reads.

`ROLECALL_HISTORIES=120` lives through more of them, a dozen for each engine.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.skip_histories import KINDS, SharedProject, SkipHistory, wait_until_right
from tests.e2e.skipping import EXPLICIT
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually

DOZEN = 12
ROUNDS = 5
BATCHES = max(1, int(os.environ.get("ROLECALL_HISTORIES", "12")) // DOZEN)


def wait_for_skips(engine: EngineProcess, count: int) -> None:
    before = engine.metric("rolecall_runs_skipped_total")
    eventually(lambda: engine.metric("rolecall_runs_skipped_total") >= before + count)


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(BATCHES))
async def test_world_with_skips_is_the_world_without(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine, batch: int
) -> None:
    for gvk in KINDS:
        await install(api, crd_for(gvk))
    project, chance = SharedProject(tmp_path / "project"), random.Random(f"batch {batch}")
    histories = [SkipHistory(api, namespace, batch * DOZEN + number) for number in range(DOZEN)]
    await asyncio.gather(*(history.begin() for history in histories))
    flags = ["--leader-elect", "--leader-election-id=histories"]
    flags += [f"--leader-election-namespace={namespace}"]
    engine = start_engine(project.folder, *flags, environment=EXPLICIT).wait_ready()
    await wait_until_right(histories, project)
    restarts = chance.sample(range(ROUNDS), 2)
    for number in range(ROUNDS):
        if chance.random() < 0.5:  # else edits meet runs in flight, or the run after a change
            await wait_until_right(histories, project)
            wait_for_skips(engine, DOZEN)
        if number in restarts:
            assert engine.stop() == 0
        if number in restarts or chance.random() < 0.3:
            project.edit(chance)
        await asyncio.gather(*(history.edit() for history in histories))
        if number in restarts:
            engine = start_engine(project.folder, *flags, environment=EXPLICIT).wait_ready()
    await wait_until_right(histories, project)
    wait_for_skips(engine, 2 * DOZEN)
