"""Traces: a span for each turn with a run, its run, its tasks and its requests, sent to a collector.

Off unless the standard environment of OpenTelemetry names a collector and the extra `rolecall[otel]` is
there; then nothing of it is even imported.
"""

from rolecall.extensions.traces.model import TurnTraces
from rolecall.extensions.traces.switch import open_traces

__all__ = ["TurnTraces", "open_traces"]
