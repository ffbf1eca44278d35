"""The record and the usage of runs that `ansible-playbook` performs."""

from __future__ import annotations

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PROJECT
from tests.e2e.features.test_record import check_first_record
from tests.e2e.features.test_usage import check_usage, usage
from tests.e2e.kinds import cr
from tests.e2e.test_story import MEMCACHED, first_success
from tests.fixtures.eventually import eventually


@pytest.mark.nightly
@pytest.mark.usefixtures("memcached")
async def test_stock_run_is_recorded_by_task_and_its_cost_is_counted(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT, "--runner=stock").wait_ready()
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await first_success(api, created)
    check_first_record(engine, namespace)
    check_usage(engine, namespace)
    assert engine.stop() == 0
    kept = usage(engine, namespace)

    flags = ("--runner=stock", f"--artifacts-dir={engine.artifacts}")
    second = start_engine(PROJECT, *flags).wait_ready()
    eventually(lambda: second.runs("Memcached", result="succeeded") >= 1)
    assert second.stop() == 0
    after = usage(engine, namespace)
    assert after["runs"] == kept["runs"] + second.log.count("run finished")
    assert after["cpu_seconds"] > kept["cpu_seconds"]
