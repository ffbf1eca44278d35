"""Who wrote a field, where the kept runs of an engine do not have the answer."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from rolecall_dev.testing import EngineInProcess
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.memcacheds import PLAYS, created
from tests.e2e.engine import PROJECT
from tests.e2e.kinds import CONFIG_MAP

pytestmark = pytest.mark.usefixtures("memcached")


async def blamed(engine: EngineInProcess, cluster: Cluster, namespace: str, *words: str) -> str:
    """The output of `rolecall blame`, with what it says beside the answer."""
    places = {
        "ROLECALL_ARTIFACTS_DIR": str(engine.artifacts),
        "KUBECONFIG": str(cluster.kubeconfig),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rolecall", "blame", *words, "-n", namespace),
        env={**os.environ, **places},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output
    return output.decode()


async def test_blame_without_kept_runs_reports_managers_and_why(
    api: Client, cluster: Cluster, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(PLAYS, project=PROJECT)
    metadata = {"name": "foreign", "namespace": namespace}
    await api.create(CONFIG_MAP, {"metadata": metadata, "data": {"a": "b"}})
    said = await blamed(engine, cluster, namespace, "configmap", "foreign", ".data")
    assert "rolecall (Update)" in said
    assert "no runs of `configmap/foreign` are kept" in said


async def test_engine_without_records_says_so(
    api: Client, cluster: Cluster, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(PLAYS, "--run-record=false", project=PROJECT)
    await created(api, namespace)
    await engine.stop()  # a second run follows where the Deployment changed late
    runs = len(engine.runs_on_disk())
    words = ("deployment", "x-memcached", ".spec.replicas")
    said = await blamed(engine, cluster, namespace, *words)
    assert f"{runs} of {runs} kept runs have no record" in said
    assert not list(engine.artifacts.glob("**/record.json"))
