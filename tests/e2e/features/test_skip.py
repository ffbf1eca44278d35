"""`skipUnchanged` with a real role: what it reads is followed, and what it acts on is named."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.engine import EngineProcess
from tests.e2e.features.kinds import ACTING, SHOWN
from tests.e2e.kinds import cr
from tests.e2e.skipping import SECRET, secret, shown, write_template
from tests.fixtures.eventually import eventually, eventually_async


def skipped(engine: EngineProcess, kind: str) -> float:
    return engine.metric("rolecall_runs_skipped_total", GVK=f"skips.rolecall.dev/v1, Kind={kind}")


def wait_at_rest(engine: EngineProcess) -> None:
    """Wait until periods pass without a run."""
    before = skipped(engine, "Shown")
    eventually(lambda: skipped(engine, "Shown") > before + 1)


@pytest.mark.nightly
async def test_nothing_runs_until_something_that_was_read_changes(
    api: Client, namespace: str, projects: Path, engine: EngineProcess
) -> None:
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(SHOWN, cr(SHOWN, namespace, size=1))
    wait_at_rest(engine)
    assert engine.runs("Shown") <= 4
    assert (await shown(api, namespace))["text"] == "first"

    async def comes(key: str, value: str) -> None:
        async def seen() -> str:
            return str((await shown(api, namespace)).get(key))

        await eventually_async(seen, lambda text: text == value)
        wait_at_rest(engine)

    two = base64.b64encode(b"two").decode()
    await api.merge_patch(SECRET, namespace, "x-source", {"data": {"key": two}})
    await comes("source", two)
    write_template(projects / "shown", "second")
    await comes("text", "second")
    await api.merge_patch(SHOWN, namespace, "x", {"metadata": {"labels": {"tier": "gold"}}})
    await comes("label", "gold")


async def test_a_run_that_is_not_pure_is_made_each_time_and_the_log_says_why(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    await api.create(ACTING, cr(ACTING, namespace, size=1))

    eventually(lambda: engine.runs("Acting") >= 3)

    assert skipped(engine, "Acting") == 0
    (said,) = re.findall(r".*skipUnchanged.*kind=Acting.*", engine.log)
    assert "action `command` runs a program" in said
    assert "roles/shows/tasks/main.yml:" in said
