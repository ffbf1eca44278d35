"""Spans reach a real collector, or are lost without any cost for runs."""

from __future__ import annotations

import pytest

from rolecall.kube import Client
from rolecall_dev.testing import eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.memcacheds import PLAYS, created, resized
from tests.e2e.engine import PROJECT
from tests.fixtures.collector import Collector, Span

pytestmark = pytest.mark.usefixtures("memcached")
LOST = "traces are lost: the collector does not take them"
Environment = dict[str, str]


@pytest.fixture
def environment(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Variables of the standard; the library of OpenTelemetry reads them itself."""
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def turns(collector: Collector) -> list[Span]:
    return [span for span in collector.spans if span.name == "reconcile Memcached"]


async def test_turn_is_linked_to_the_previous_one_of_its_cr(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    collector: Collector,
    environment: Environment,
) -> None:
    await start_engine(PLAYS, project=PROJECT, environment=environment)
    await created(api, namespace)
    await resized(api, namespace, 2)

    first, second, *_ = await eventually_async(
        lambda: turns(collector), lambda found: len(found) > 1
    )
    assert second.trace != first.trace
    assert second.links == [first.id]
    assert first.links == []


async def test_what_waits_is_sent_when_the_operator_stops(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    collector: Collector,
    environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    engine = await start_engine(PLAYS, project=PROJECT, environment=environment)
    await created(api, namespace)
    assert collector.spans == []
    await engine.stop()
    assert await eventually_async(lambda: turns(collector))


async def test_collector_that_is_gone_costs_no_run_and_is_reported_once(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    collector: Collector,
    environment: Environment,
) -> None:
    collector.stop()
    engine = await start_engine(PLAYS, project=PROJECT, environment=environment)
    await created(api, namespace)
    await eventually_async(lambda: LOST in engine.log)
    await resized(api, namespace, 2)
    collector.start()
    await resized(api, namespace, 3)
    await eventually_async(lambda: "traces arrive again" in engine.log)
    assert engine.log.count(LOST) == 1
    assert "Traceback" not in engine.log
