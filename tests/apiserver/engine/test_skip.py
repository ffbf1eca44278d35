"""`skipUnchanged`: a period or a restart runs nothing where nothing changed, and else as ever."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.testing import ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.skipping import (
    PERIOD,
    at_rest,
    follows,
    follows_secret,
    leader,
    lines,
    shows,
    skipped,
)
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.e2e.skipping import (
    MEMCACHED,
    SECRET,
    listed,
    secret,
    shown,
    write_project,
    write_template,
)

pytestmark = pytest.mark.usefixtures("memcached")


async def test_nothing_runs_until_something_that_was_read_changes(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = write_project(tmp_path / "project", reconcilePeriod=PERIOD, maxSkip="1h")
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    engine = await start_engine({"Memcached": shows(project)}, project=project)
    assert await at_rest(engine) <= 4
    assert (await shown(api, namespace))["text"] == "first"

    async def comes(key: str, value: str) -> None:
        await follows(api, namespace, key, value)
        await at_rest(engine)

    await follows_secret(api, namespace, "two")
    await comes("source", base64.b64encode(b"two").decode())
    await api.create(CONFIG_MAP, listed(namespace, "a"))
    await comes("listed", "x-a")
    await api.delete(CONFIG_MAP, namespace, "x-a")
    await comes("listed", "")
    write_template(project, "second")
    await comes("text", "second")
    await api.merge_patch(MEMCACHED, namespace, "x", {"metadata": {"labels": {"tier": "gold"}}})
    await comes("label", "gold")
    await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": 5}})
    await comes("size", "5")
    await api.merge_patch(CONFIG_MAP, namespace, "x-out", {"data": {"size": "foreign"}})
    await comes("size", "5")
    await api.delete(SECRET, namespace, "x-source")
    await comes("source", "missing")


async def test_a_restart_runs_nothing_and_still_follows_what_crs_own(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = write_project(tmp_path / "project", reconcilePeriod="1h", maxSkip="24h")
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    plays = {"Memcached": shows(project)}
    for _ in range(2):  # the first creates, the second changes nothing
        engine = await start_engine(plays, *leader(namespace), project=project)
        await eventually_async(engine.runs, lambda count: count == 1)
        await engine.stop()

    engine = await start_engine(plays, *leader(namespace), project=project)

    await eventually_async(lambda: skipped(engine), lambda count: count == 1)
    assert await engine.runs() == 0
    await api.merge_patch(CONFIG_MAP, namespace, "x-out", {"data": {"size": "foreign"}})
    await follows(api, namespace, "size", "1")


async def test_a_run_that_is_not_pure_is_made_each_time_and_the_log_says_why(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    project = write_project(tmp_path / "project", reconcilePeriod=PERIOD)
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))

    async def acts(run: ScriptedRun) -> None:
        async with run.task("acts", module="ansible.builtin.command"):
            pass

    engine = await start_engine({"Memcached": acts}, project=project)

    await eventually_async(engine.runs, lambda count: count >= 3)

    assert await skipped(engine) == 0
    (said,) = lines(engine, "skipUnchanged")
    assert "action `command` runs a program" in said
    assert "roles/shows/tasks/main.yml:" in said
