"""A killed engine and pruning: the run in flight deletes nothing, and the next one does.

tests/apiserver/engine/test_prune_survives.py has restarts and missing rights.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.wanted_kinds import SHELF, WANTED, made, names, settled
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("wanted")


@pytest.mark.nightly
async def test_killed_run_deletes_nothing_and_the_next_one_does(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    engine = start_engine(WANTED).wait_ready()
    await made(api, SHELF, namespace, books=["a", "b"])
    spec = {"books": ["a", "c"], "waits_for": str(go)}
    await api.merge_patch(SHELF, namespace, "x", {"spec": spec})
    await eventually_async(lambda: names(api, namespace), lambda found: "x-c" in found)
    engine.send(signal.SIGKILL)
    engine.wait()
    assert await names(api, namespace) == {"x-a", "x-b", "x-c"}
    go.touch()
    await api.merge_patch(SHELF, namespace, "x", {"spec": {"books": ["a"]}})
    start_engine(WANTED).wait_ready()
    await settled(api, SHELF, namespace)
    # What the killed run made is not known, unless a task looks at it again.
    assert await names(api, namespace) == {"x-a", "x-c"}
