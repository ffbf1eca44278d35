"""Sends traces with OpenTelemetry's library: OTLP over HTTP, in batches, from its own thread.

Promises: a collector that hangs or is down fails no run and uses no memory beyond a queue of spans. We
log it once, and again when the collector accepts spans. The library would log a line for every failed
batch: we suppress these lines, and add the last one to our own.

The library itself reads its standard settings from the environment.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from rolecall.clock import Clock
from rolecall.extending import Act, EndedTurn
from rolecall.extensions.traces.spans import TurnSpans
from rolecall.log_fields import log_fields
from rolecall.reconcile import TurnTrail
from rolecall.workqueue import Key

# Of spans that wait for a collector, 2 kB each; OpenTelemetry's 2048 is less than two long runs have.
_MOST_WAITING = 8192
_QUEUE_VARIABLE = "OTEL_BSP_MAX_QUEUE_SIZE"
_LIBRARY = "opentelemetry"
_URL = re.compile(r" with url: \S+")
_LONGEST_WORDS = 300
_logger = logging.getLogger(__name__)


class SentTraces:
    """The real `TurnTraces`."""

    def __init__(self, environment: Mapping[str, str], clock: Clock, version: str) -> None:
        words = _LastMessage()
        inner = OTLPSpanExporter()
        self.place = _place_of(environment)
        self._provider = TracerProvider(
            resource=Resource.create(_resource(environment, version)), shutdown_on_exit=False
        )
        most = None if environment.get(_QUEUE_VARIABLE) else _MOST_WAITING
        exporter = _LoggingExporter(inner, self.place, words)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=most))
        self._spans = TurnSpans(self._provider.get_tracer("rolecall", version), clock)
        self._has_failed = False

    def take(self, ended: EndedTurn, trail: TurnTrail) -> None:
        with self._costing_a_trace():
            self._spans.make(ended, trail)

    def take_act(self, key: Key, act: Act) -> None:
        with self._costing_a_trace():
            self._spans.make_of_act(key, act)

    @contextmanager
    def _costing_a_trace(self) -> Iterator[None]:
        """A bug costs a trace, and nothing else."""
        try:
            yield
        except Exception:
            level = logging.DEBUG if self._has_failed else logging.ERROR
            _logger.log(level, "internal error: a trace could not be made", exc_info=True)
            self._has_failed = True

    def close(self, timeout_s: float) -> None:
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(timeout_s)
        if closing.is_alive():
            _logger.warning("the last traces could not be sent in time")


class _LoggingExporter(SpanExporter):
    """Logs when spans are lost, and when the collector accepts them again; each once."""

    def __init__(self, inner: SpanExporter, place: str, words: _LastMessage) -> None:
        self._inner, self._place, self._words = inner, place, words
        self._is_lost = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._inner.export(spans)
        except Exception as error:  # whatever the library meets
            self._words.last = f"{type(error).__name__}: {error}"
            result = SpanExportResult.FAILURE
        is_lost = result is not SpanExportResult.SUCCESS
        if is_lost and not self._is_lost:
            _logger.warning(
                "traces are lost: the collector does not take them; runs go on as before",
                extra=log_fields(to=self._place, why=self._words.last),
            )
        elif self._is_lost and not is_lost:
            _logger.info("traces arrive again", extra=log_fields(to=self._place))
        self._is_lost = is_lost
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


class _LastMessage(logging.Handler):
    """Keeps the last log message of the library, and keeps its messages out of our log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        library = logging.getLogger(_LIBRARY)
        library.addHandler(self)
        library.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        # A URL may carry a key.
        self.last = _URL.sub("", record.getMessage())[:_LONGEST_WORDS]


def _resource(environment: Mapping[str, str], version: str) -> dict[str, str]:
    """What is known of this process; what the environment says goes before it."""
    given = {
        pair.partition("=")[0].strip()
        for pair in environment.get("OTEL_RESOURCE_ATTRIBUTES", "").split(",")
    }
    if environment.get("OTEL_SERVICE_NAME"):
        given.add("service.name")
    known = {
        "service.name": "rolecall",
        "service.version": version,
        "k8s.pod.name": environment.get("POD_NAME", ""),
        "k8s.pod.uid": environment.get("POD_UID", ""),
        "k8s.namespace.name": environment.get("POD_NAMESPACE", ""),
    }
    return {name: text for name, text in known.items() if text and name not in given}


def _place_of(environment: Mapping[str, str]) -> str:
    """Where spans go, without user, password, path and query."""
    for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        if endpoint := environment.get(name, "").strip():
            parts = urlsplit(endpoint)
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return ""
