"""`skipUnchanged`: a period or a restart runs nothing where nothing changed, and else as ever."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.e2e.skipping import (
    EXPLICIT,
    MEMCACHED,
    SECRET,
    listed,
    secret,
    shown,
    write_project,
    write_template,
)
from tests.fixtures.eventually import eventually, eventually_async

pytestmark = pytest.mark.usefixtures("memcached")


def skipped(engine: EngineProcess) -> float:
    return engine.metric("rolecall_runs_skipped_total")


def wait_at_rest(engine: EngineProcess) -> float:
    """Wait until periods pass without a run; returns how many runs there were."""
    before = skipped(engine)
    eventually(lambda: skipped(engine) > before + 1)
    return engine.runs()


def wait_for_one_run(engine: EngineProcess) -> None:
    eventually(lambda: engine.runs() == 1)


async def test_nothing_runs_until_something_that_was_read_changes(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = write_project(tmp_path / "project")
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    engine = start_engine(project, environment=EXPLICIT).wait_ready()
    runs = wait_at_rest(engine)
    assert runs <= 4
    assert (await shown(api, namespace))["text"] == "first"

    async def follows(key: str, value: str) -> None:
        async def seen() -> str:
            return str((await shown(api, namespace)).get(key))

        await eventually_async(seen, lambda text: text == value)
        wait_at_rest(engine)

    two = base64.b64encode(b"two").decode()
    await api.merge_patch(SECRET, namespace, "x-source", {"data": {"key": two}})
    await follows("source", two)
    await api.create(CONFIG_MAP, listed(namespace, "a"))
    await follows("listed", "x-a")
    await api.delete(CONFIG_MAP, namespace, "x-a")
    await follows("listed", "")
    write_template(project, "second")
    await follows("text", "second")
    await api.merge_patch(MEMCACHED, namespace, "x", {"metadata": {"labels": {"tier": "gold"}}})
    await follows("label", "gold")
    await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": 5}})
    await follows("size", "5")
    await api.merge_patch(CONFIG_MAP, namespace, "x-out", {"data": {"size": "foreign"}})
    await follows("size", "5")
    await api.delete(SECRET, namespace, "x-source")
    await follows("source", "missing")


async def test_a_restart_runs_nothing_and_still_follows_what_crs_own(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = write_project(tmp_path / "project", reconcilePeriod="1h", maxSkip="24h")
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    flags = [
        "--leader-elect",
        "--leader-election-id=skips",
        f"--leader-election-namespace={namespace}",
    ]
    for _ in range(2):  # the first creates, the second changes nothing
        engine = start_engine(project, *flags, environment=EXPLICIT).wait_ready()
        wait_for_one_run(engine)
        assert engine.stop() == 0

    engine = start_engine(project, *flags, environment=EXPLICIT).wait_ready()

    eventually(lambda: skipped(engine) == 1)
    assert engine.runs() == 0
    await api.merge_patch(CONFIG_MAP, namespace, "x-out", {"data": {"size": "foreign"}})

    async def size() -> str:
        return str((await shown(api, namespace))["size"])

    await eventually_async(size, lambda text: text == "1")


async def test_a_run_that_is_not_pure_is_made_each_time_and_the_log_says_why(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    task = {"name": "acts", "ansible.builtin.command": "true", "changed_when": False}
    project = write_project(tmp_path / "project", task)
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    engine = start_engine(project, environment=EXPLICIT).wait_ready()

    eventually(lambda: engine.runs() >= 3)

    assert skipped(engine) == 0
    told = [line for line in engine.log.splitlines() if "skipUnchanged" in line]
    assert len(told) == 1
    assert "action `command` runs a program" in told[0]
    assert "roles/shows/tasks/main.yml:" in told[0]
