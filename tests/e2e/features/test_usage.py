"""What real runs cost: CPU seconds, requests, and objects."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.test_story import MEMCACHED, first_success
from tests.fixtures.eventually import eventually


def usage(engine: EngineProcess, namespace: str) -> Json:
    """The row of the CR in this namespace."""
    command = [sys.executable, "-m", "rolecall", "usage", "--by", "cr", "-o", "json"]
    done = subprocess.run(
        [*command, "--artifacts-dir", str(engine.artifacts)],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    rows: list[Json] = json.loads(done.stdout)["rows"]
    (row,) = (row for row in rows if row["namespace"] == namespace)
    return row


async def test_cost_of_runs_is_counted_for_their_cr(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await first_success(api, created)
    check_usage(engine, namespace)


def check_usage(engine: EngineProcess, namespace: str) -> None:
    """One run or more of `memcached` are counted, with what they cost."""
    labels = {"namespace": namespace, "kind": "Memcached"}
    eventually(lambda: engine.metric("rolecall_used_runs_total", **labels) >= 1)
    cpu_s = engine.metric("rolecall_run_cpu_seconds_total", **labels)
    assert engine.metric("rolecall_run_requests_total", **labels) >= 2
    assert engine.metric("rolecall_owned_objects", **labels) == 2

    kept = usage(engine, namespace)
    assert kept["name"] == "x"
    assert kept["runs"] >= 1
    assert kept["cpu_seconds"] >= cpu_s - 0.01 > 0, "each sum has its rounding"
    assert kept["objects"] == 2
