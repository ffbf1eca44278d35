"""The world with `skipUnchanged` is the world without, whatever happens to what a role reads.

`ROLECALL_HISTORIES=120` lives through more of them, a dozen for each engine.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest
import yaml

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import EngineInProcess, Script, ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.skipping import INFO, leader, skipped
from tests.e2e.skip_histories import (
    KINDS,
    NOTHING,
    SharedProject,
    SkipHistory,
    wait_until_right,
)
from tests.fixtures.crds import crd_for, install

DOZEN = 12
BATCHES = max(1, int(os.environ.get("ROLECALL_HISTORIES", "12")) // DOZEN)


def shows(folder: Path) -> Script:
    """The role of a `SharedProject`: it writes all that it read."""
    role = folder / "roles" / "shows"

    async def play(run: ScriptedRun) -> None:
        tasks = yaml.safe_load((role / "tasks" / "main.yml").read_text())
        data = {
            "words": tasks[-1]["kubernetes.core.k8s"]["definition"]["data"]["words"],
            "text": (role / "templates" / "text.j2").read_text(),
            "size": str(run.spec["size"]),
            "tier": run.cr["metadata"].get("labels", {}).get("tier", NOTHING),
        }
        async with run.task("look for a Secret", module=INFO) as task:
            data["secret"] = key_of(await task.get("v1", "Secret", f"{run.name}-secret"))
        async with run.task("look for a ConfigMap", module=INFO) as task:
            data["config"] = key_of(await task.get("v1", "ConfigMap", f"{run.name}-config"))
        async with run.task("look for a list", module=INFO) as task:
            items = await task.list("v1", "ConfigMap", labels=f"for={run.name}")
        data["items"] = ",".join(sorted(each["metadata"]["labels"]["item"] for each in items))
        metadata = {"name": f"{run.name}-out", "namespace": run.namespace}
        async with run.task("write") as task:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
            await task.present(body)

    return play


def key_of(found: Json | None) -> str:
    return str(found["data"]["key"]) if found else NOTHING


async def wait_for_skips(engine: EngineInProcess, count: int) -> None:
    before = await skipped(engine)
    await eventually_async(lambda: skipped(engine), lambda now: now >= before + count)


class _Lives:
    """Some histories with one engine at a time, by one seed."""

    def __init__(self, project: SharedProject, api: Client, namespace: str, batch: int) -> None:
        self._project = project
        self._api, self._namespace, self._batch = api, namespace, batch

    async def live(self, start_engine: StartEngine, histories: int, rounds: int) -> None:
        for gvk in KINDS:
            await install(self._api, crd_for(gvk))
        chance = random.Random(f"batch {self._batch}")
        seeds = range(self._batch * DOZEN, self._batch * DOZEN + histories)
        lives = [SkipHistory(self._api, self._namespace, seed) for seed in seeds]
        await asyncio.gather(*(life.begin() for life in lives))
        engine = await self._started(start_engine)
        await wait_until_right(lives, self._project)
        restarts = chance.sample(range(rounds), 2)
        for number in range(rounds):
            if chance.random() < 0.5:  # else edits meet runs in flight, or the run after a change
                await wait_until_right(lives, self._project)
                await wait_for_skips(engine, histories)
            if number in restarts:
                await engine.stop()
            if number in restarts or chance.random() < 0.3:
                self._project.edit(chance)
            await asyncio.gather(*(life.edit() for life in lives))
            if number in restarts:
                engine = await self._started(start_engine)
        await wait_until_right(lives, self._project)
        await wait_for_skips(engine, 2 * histories)

    async def _started(self, start_engine: StartEngine) -> EngineInProcess:
        plays = {gvk.kind: shows(self._project.folder) for gvk in KINDS}
        return await start_engine(plays, *leader(self._namespace), project=self._project.folder)


@pytest.mark.nightly
async def test_world_with_skips_is_the_world_without(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = SharedProject(tmp_path / "project", ("200ms", "1s"), maxSkip="1h")
    await _Lives(project, api, namespace, 0).live(start_engine, 3, 4)


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(BATCHES))
async def test_world_with_skips_is_the_world_without_in_long_histories(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine, batch: int
) -> None:
    project = SharedProject(tmp_path / "project", ("1s", "3s"), maxSkip="1h")
    await _Lives(project, api, namespace, batch).live(start_engine, DOZEN, 5)
