"""What runs cost is kept through restarts, and longer than the artifacts of the runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PROJECT, EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.test_story import MEMCACHED, first_success, reconciled
from tests.fixtures.eventually import eventually

pytestmark = pytest.mark.usefixtures("memcached")


def usage(engine: EngineProcess, by: str = "cr") -> dict[str, Any]:
    command = [sys.executable, "-m", "rolecall", "usage", "--by", by, "-o", "json"]
    done = subprocess.run(
        [*command, "--artifacts-dir", str(engine.artifacts)],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def counted(engine: EngineProcess) -> dict[str, Any]:
    """The one row, once every run of this engine so far is in it."""
    rows = eventually(lambda: usage(engine)["rows"], bool)
    (row,) = rows
    return dict(row)


@pytest.mark.parametrize("way", ["stock", "warm"])
async def test_usage_outlives_restart_and_rotation(
    api: Client, namespace: str, start_engine: StartEngine, way: str
) -> None:
    flags = (f"--runner={way}", "--dependents-delay=0")
    body = cr(MEMCACHED, namespace, size=1)
    body["metadata"]["annotations"] = {"ansible.sdk.operatorframework.io/max-runner-artifacts": "1"}
    first = start_engine(PROJECT, *flags).wait_ready()
    created = await api.create(MEMCACHED, body)
    await first_success(api, created)
    for generation in (2, 3):
        await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": generation}})
        await reconciled(api, namespace, generation=generation)
    runs = first.runs("Memcached")
    assert runs >= 3
    labels = {"namespace": namespace, "kind": "Memcached"}
    eventually(lambda: first.metric("rolecall_used_runs_total", **labels) >= runs)
    cpu_s = first.metric("rolecall_run_cpu_seconds_total", **labels)
    assert first.metric("rolecall_run_requests_total", **labels) >= 2 * runs
    assert first.metric("rolecall_owned_objects", **labels) == 2
    assert first.stop() == 0

    kept = counted(first)
    assert kept["name"] == "x" and kept["namespace"] == namespace
    assert kept["runs"] >= runs
    assert kept["cpu_seconds"] >= cpu_s - 0.01 > 0, "each sum has its rounding"
    assert kept["objects"] == 2
    assert len(list(first.artifacts.glob("**/run.json"))) < runs, "rotation took none"

    second = start_engine(PROJECT, *flags, f"--artifacts-dir={first.artifacts}").wait_ready()
    eventually(lambda: second.runs("Memcached", result="succeeded") >= 1)
    assert second.stop() == 0
    after = counted(first)
    assert after["runs"] == kept["runs"] + count_of(second, "run finished")
    assert after["cpu_seconds"] > kept["cpu_seconds"]
    assert usage(first, by="namespace")["total"]["runs"] == after["runs"]


def count_of(engine: EngineProcess, words: str) -> int:
    return engine.log.count(words)
