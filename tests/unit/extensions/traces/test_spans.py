"""A turn that is over becomes spans: below each other, bounded, linked, with names and no values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from rolecall.extending import Act, EndedTurn
from rolecall.extensions.traces.spans import MOST_REQUEST_SPANS, TurnSpans
from rolecall.gvk import Gvk
from rolecall.reconcile import NOT_FOLLOWED, Outcome, TurnTrail
from rolecall.record import NO_TASK, RecordedRequest, RecordedTask, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Cause, Key, Turn, Urgency
from tests.fixtures.findings import Published

SITE, VOLUME = Gvk("demo.example.com", "v1", "Website"), Gvk("demo.example.com", "v1", "Volume")
SHOP = Key(SITE, "shops", "shop")
NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
TASK = RecordedTask("u1", "create it", "roles/web/tasks/main.yml:12", "k8s", 10.2, 10.6, "changed")


class Noon:
    """It is noon, a hundred seconds after the clock that never jumps began."""

    def now(self) -> datetime:
        return NOON

    def monotonic(self) -> float:
        return 100.0

    def boottime(self) -> float:
        return self.monotonic()

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")


class Traced:
    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(**options)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.spans_of = TurnSpans(provider.get_tracer("test"), Noon())

    def make(self, ended: EndedTurn) -> dict[str, ReadableSpan]:
        """Those of this turn alone, by name."""
        self.exporter.clear()
        assert ended.outcome.trail is not None
        self.spans_of.make(ended, ended.outcome.trail)
        return {span.name: span for span in self.exporter.get_finished_spans()}


def request(verb: str, name: str, code: int = 200, **more: Any) -> RecordedRequest:
    about = ("apps", "v1", "deployments", "", "shops", name, code)
    return RecordedRequest(0, more.pop("at_s", 10.3), 0.1, verb, *about, **{"task": 0, **more})


def ended(
    *requests: RecordedRequest,
    key: Key = SHOP,
    uid: str = "u-shop",
    ending: Ending = Ending.FINISHED,
    tasks: Iterable[RecordedTask] = (TASK,),
) -> EndedTurn:
    result = RunResult("7", ending, 0, seconds=0.7, cpu_s=0.25, way="warm")
    record = RunRecord("7", NOON, 10.1, tuple(tasks), requests)
    trail = TurnTrail(10.0, 10.1, 10.8, uid, result, Published({RunRecord: record}))
    error = "" if ending is Ending.FINISHED else "password hunter2 was refused"
    outcome = Outcome(error=error, ran={"generation": 4}, trail=trail)
    return EndedTurn(Turn(key, Urgency.EDIT, 0.5, Cause("edit")), outcome, 10.9)


def test_each_is_below_what_made_it_at_its_time_on_the_wall() -> None:
    found = Traced().make(ended(request("create", "web", 201), request("get", "x", task=NO_TASK)))
    turn, run = found["reconcile Website"], found["run Website"]
    task, made = found["create it"], found["create deployments"]
    assert turn.parent is None
    for child, parent in (
        *((run, turn), (task, run), (made, task)),
        (found["get deployments"], run),
    ):
        assert child.parent is not None and child.parent.span_id == parent.context.span_id
    noon_ns = int(NOON.timestamp() * 1e9)
    assert made.start_time is not None and made.end_time is not None
    assert made.start_time == pytest.approx(noon_ns - 89.7e9, abs=1e4)
    assert made.end_time - made.start_time == pytest.approx(0.1e9, abs=1e4)


def test_names_and_places_are_said_and_no_values() -> None:
    hidden = request(
        "patch", "web", 422, query="labelSelector=password%3Dhunter2", leaves=(".spec.hunter2",)
    )
    found = Traced().make(ended(hidden, ending=Ending.TIMED_OUT))
    said = "".join(span.to_json() for span in found.values())
    assert "hunter2" not in said
    assert found["create it"].attributes == {
        "code.file.path": "roles/web/tasks/main.yml",
        "code.line.number": 12,
        "rolecall.task.action": "k8s",
        "rolecall.task.outcome": "changed",
    }
    attributes = found["patch deployments"].attributes
    assert attributes is not None
    assert attributes["k8s.deployment.name"] == "web"
    assert attributes["k8s.namespace.name"] == "shops"
    assert attributes["error.type"] == "422"
    run = found["run Website"].attributes
    assert run is not None
    assert (run["error.type"], run["rolecall.run.id"]) == ("TimedOut", "7")
    assert (run["rolecall.run.cpu_s"], run["rolecall.cr.generation"]) == (0.25, 4)


def test_only_what_failed_is_an_error() -> None:
    good = Traced().make(ended(request("get", "web", 404)))
    assert {span.status.status_code for span in good.values()} == {StatusCode.UNSET}
    task = replace(TASK, outcome="failed", ended_s=None)
    bad = Traced().make(ended(request("create", "x", 0), tasks=[task], ending=Ending.KILLED))
    assert {span.status.status_code for span in bad.values()} == {StatusCode.ERROR}
    assert bad["create it"].end_time == bad["run Website"].end_time


def test_turn_is_linked_to_the_one_before_and_to_what_wrote_its_cr() -> None:
    traced = Traced()
    first = traced.make(ended(request("create", "data", 201, uid="u-data")))
    volume = Key(VOLUME, "shops", "data")
    made = traced.make(ended(key=volume, uid="u-data"))["reconcile Volume"]
    again = traced.make(ended(key=volume, uid="u-data"))["reconcile Volume"]
    assert [link.context for link in made.links] == [first["create deployments"].context]
    assert {link.context.span_id for link in again.links} == {
        made.context.span_id,
        first["create deployments"].context.span_id,
    }


def test_run_that_asks_for_everything_does_not_flood_the_collector() -> None:
    traced = Traced()
    traced.make(ended(*(request("get", str(number)) for number in range(MOST_REQUEST_SPANS + 5))))
    spans = traced.exporter.get_finished_spans()
    assert len(spans) == MOST_REQUEST_SPANS + 3
    run = next(span for span in spans if span.name == "run Website")
    assert run.attributes is not None and run.attributes["rolecall.run.spans_left_out"] == 5


def test_turn_that_is_not_sampled_makes_no_span_below_it() -> None:
    assert Traced(sampler=ALWAYS_OFF).make(ended(request("get", "web"))) == {}


def test_run_without_recorded_requests_is_a_span_all_the_same() -> None:
    turn = ended()
    trail = replace(turn.outcome.trail, followed=NOT_FOLLOWED)  # type: ignore[type-var]
    turn = replace(turn, outcome=replace(turn.outcome, trail=trail))
    assert set(Traced().make(turn)) == {"reconcile Website", "run Website"}


def test_call_of_a_handler_is_a_trace_of_its_own_with_names_and_no_words() -> None:
    traced = Traced()

    failed = Act("poll", "handlers/site.py:7", "failed", "KeyError: 'secret'", 0.5, NOON)
    traced.spans_of.make_of_act(SHOP, failed)

    (span,) = traced.exporter.get_finished_spans()
    assert span.name == "handler Website"
    assert span.parent is None
    assert span.end_time is not None and span.start_time is not None
    assert span.end_time - span.start_time == 500_000_000
    assert span.status.status_code is StatusCode.ERROR
    said = dict(span.attributes or {})
    assert said["rolecall.handler.name"] == "poll"
    assert (said["code.file.path"], said["code.line.number"]) == ("handlers/site.py", 7)
    assert said["rolecall.cr.name"] == "shop"
    assert "secret" not in str(said)
