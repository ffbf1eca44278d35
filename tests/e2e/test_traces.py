"""Spans of turns, runs, tasks and requests arrive at a real collector."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PROJECT
from tests.e2e.kinds import cr
from tests.e2e.test_story import MEMCACHED, first_success
from tests.fixtures.collector import Collector, Span
from tests.fixtures.eventually import eventually

pytestmark = pytest.mark.usefixtures("memcached")


def reported_to(collector: Collector, **more: str) -> Mapping[str, str]:
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        **more,
    }


def named(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


def below(spans: list[Span], parent: Span) -> list[Span]:
    return [span for span in spans if span.parent == parent.id]


@pytest.mark.nightly
async def test_run_is_a_trace_of_its_turn_tasks_and_requests(
    api: Client, namespace: str, start_engine: StartEngine, collector: Collector
) -> None:
    environment = reported_to(
        collector, OTEL_SERVICE_NAME="memcached-operator", POD_NAME="engine-0"
    )
    start_engine(PROJECT, environment=environment).wait_ready()
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=3))
    await first_success(api, created)

    turn = eventually(lambda: named(collector.spans, "reconcile Memcached"), bool)[0]
    spans = [span for span in collector.spans if span.trace == turn.trace]
    (run,) = below(spans, turn)
    tasks = [span for span in below(spans, run) if "rolecall.task.action" in span.attributes]
    requests = [span for task in tasks for span in below(spans, task)]

    assert turn.parent == ""
    assert turn.resource["service.name"] == "memcached-operator"
    assert turn.resource["k8s.pod.name"] == "engine-0"
    assert turn.attributes["k8s.namespace.name"] == namespace
    assert turn.attributes["rolecall.turn.cause"] == "creation"
    assert run.name == "run Memcached"
    assert run.attributes["rolecall.run.outcome"] == "succeeded"
    assert float(run.attributes["rolecall.run.cpu_s"]) > 0
    assert [task.name for task in tasks][:2] == ["start memcached", "write settings"]
    file = tasks[0].attributes["code.file.path"]
    assert file == "roles/memcached/tasks/main.yml"
    made = next(each for each in requests if each.name == "create deployments")
    assert made.parent == tasks[0].id
    assert made.kind == 3
    assert made.attributes["http.request.method"] == "POST"
    assert made.attributes["http.response.status_code"] == "201"
    assert made.attributes["k8s.deployment.name"] == "x-memcached"
    assert all(span.status != 2 for span in spans)
    for span in spans:
        for child in below(spans, span):
            assert span.began <= child.began <= child.ended <= span.ended, (span, child)
