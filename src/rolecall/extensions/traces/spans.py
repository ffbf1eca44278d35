"""Turns become spans when they are over: turn, run, tasks, requests, each below the other.

Made from the run's record and not while it runs, so that a run pays nothing for it; hence no span has
an id before its turn has ended, and plays get no `TRACEPARENT`. What caused a turn is linked: the
previous turn of its CR, and the request of another run that wrote the CR, where that run has ended by
then. A play that creates a CR and waits for it has not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from rolecall.clock import Clock
from rolecall.extending import Act, EndedTurn
from rolecall.extensions.traces import attributes
from rolecall.reconcile import TurnTrail
from rolecall.record import NO_TASK, RecordedRequest, RecordedTask, RunRecord
from rolecall.workqueue import Key

# Of one run; a larger trace is of no use, and would push the spans of other runs out of the queue.
MOST_TASK_SPANS = 1000
MOST_REQUEST_SPANS = 1000
# Of CRs and of objects that a turn may have to be linked to.
_MOST_REMEMBERED = 20_000
T = TypeVar("T")
_RELATION = "rolecall.link.relation"
_PREVIOUS, _WROTE = "previous turn of the CR", "wrote the CR"


class TurnSpans:
    """Makes spans; in one thread at a time."""

    def __init__(self, tracer: Tracer, clock: Clock) -> None:
        self._tracer, self._clock = tracer, clock
        self._previous = _Remembered[Key]()
        self._writers = _Remembered[str]()  # by the uid of what was written

    def make(self, ended: EndedTurn, trail: TurnTrail) -> None:
        key = ended.turn.key
        times = _Times(self._clock)
        turn = self._tracer.start_span(
            f"reconcile {key.gvk.kind}",
            Context(),
            attributes=attributes.of_turn(ended, trail),
            links=self._links(key, trail.uid),
            start_time=times.ns(trail.began_s),
        )
        self._previous.put(key, turn.get_span_context())
        if turn.is_recording():  # else it was not sampled, nor is anything below it
            run = self._tracer.start_span(
                f"run {key.gvk.kind}",
                set_span_in_context(turn, Context()),
                attributes=attributes.of_run(ended, trail),
                start_time=times.ns(trail.run_began_s),
            )
            self._make_below(run, ended.findings.of(RunRecord), times, trail.run_ended_s)
            _mark(run, attributes.kind_of_failure(trail))
            run.end(times.ns(trail.run_ended_s))
            _mark(turn, "error" if ended.outcome.is_error else "")
        turn.end(times.ns(max(ended.ended_s, trail.run_ended_s)))

    def make_of_act(self, key: Key, act: Act) -> None:
        """What a handler did, in a trace of its own; called in any thread."""
        ended_ns = int(act.at.timestamp() * 1e9)
        span = self._tracer.start_span(
            f"handler {key.gvk.kind}",
            Context(),
            attributes=attributes.of_act(key, act),
            start_time=ended_ns - int(act.seconds * 1e9),
        )
        _mark(span, act.outcome if act.is_bad else "")
        span.end(ended_ns)

    def _make_below(
        self, run: Span, record: RunRecord | None, times: _Times, ended_s: float
    ) -> None:
        if record is None:
            return
        tasks, requests = record.tasks[:MOST_TASK_SPANS], record.requests[:MOST_REQUEST_SPANS]
        if left_out := len(record.tasks) + len(record.requests) - len(tasks) - len(requests):
            run.set_attribute("rolecall.run.spans_left_out", left_out)
        below_run = set_span_in_context(run, Context())
        spans = [self._start_task(task, below_run, times) for task in tasks]
        contexts = [set_span_in_context(span, Context()) for span in spans]
        for request in requests:
            has_task = request.task != NO_TASK and request.task < len(contexts)
            context = contexts[request.task] if has_task else below_run
            self._make_request(request, context, times)
        for task, span in zip(tasks, spans, strict=True):
            span.end(times.ns(ended_s if task.ended_s is None else task.ended_s))

    def _start_task(self, task: RecordedTask, context: Context, times: _Times) -> Span:
        span = self._tracer.start_span(
            task.name or task.action or "task",
            context,
            attributes=attributes.of_task(task),
            start_time=times.ns(task.began_s),
        )
        _mark(span, "failed" if attributes.is_failed(task) else "")
        return span

    def _make_request(self, request: RecordedRequest, context: Context, times: _Times) -> None:
        span = self._tracer.start_span(
            f"{request.verb} {request.resource or request.path}",
            context,
            SpanKind.CLIENT,
            attributes.of_request(request),
            start_time=times.ns(request.at_s),
        )
        _mark(span, attributes.error_of(request))
        span.end(times.ns(request.at_s + request.seconds))
        if request.is_write and request.uid and 200 <= request.code < 300:
            self._writers.put(request.uid, span.get_span_context())

    def _links(self, key: Key, uid: str) -> Sequence[Link]:
        known = ((self._previous.get(key), _PREVIOUS), (self._writers.get(uid), _WROTE))
        return [Link(context, {_RELATION: word}) for context, word in known if context is not None]


class _Times:
    """From the clock that never jumps to the one on the wall, as both are now."""

    def __init__(self, clock: Clock) -> None:
        self._zero_s = clock.now().timestamp() - clock.monotonic()

    def ns(self, ticks_s: float) -> int:
        return int((self._zero_s + ticks_s) * 1e9)


class _Remembered(Generic[T]):
    """Spans by what they were about; the oldest are forgotten."""

    def __init__(self) -> None:
        self._contexts: OrderedDict[T, SpanContext] = OrderedDict()

    def get(self, about: T) -> SpanContext | None:
        return self._contexts.get(about)

    def put(self, about: T, context: SpanContext) -> None:
        self._contexts[about] = context
        self._contexts.move_to_end(about)
        if len(self._contexts) > _MOST_REMEMBERED:
            self._contexts.popitem(last=False)


def _mark(span: Span, failure: str) -> None:
    if failure:
        span.set_status(Status(StatusCode.ERROR))
