"""Whether there are traces: what OpenTelemetry's standard environment says, and what is installed."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from rolecall.clock import Clock
from rolecall.extensions.traces.model import TurnTraces
from rolecall.log_fields import log_fields

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_logger = logging.getLogger(__name__)


def open_traces(environment: Mapping[str, str], clock: Clock, version: str) -> TurnTraces | None:
    """The recorder of turns; None if no variable requests traces, or if they cannot be sent."""
    variable = _asked_by(environment)
    if not variable:
        return None
    if why := _why_not(environment):
        _logger.warning("no traces are sent, though %s is set: %s", variable, why)
        return None
    try:
        from rolecall.extensions.traces.sent import SentTraces  # noqa: PLC0415 - 20 MB, and an extra

        traces = SentTraces(environment, clock, version)
    except ImportError as error:
        _logger.warning(
            "no traces are sent, though %s is set: %s\nhint: pip install 'rolecall[otel]'",
            *(variable, f"the extra `otel` is not installed ({error})"),
        )
        return None
    except Exception as error:  # of the library, about a setting; a run must not suffer for it
        _logger.warning("no traces are sent, though %s is set: %s", variable, error)
        return None
    _logger.info("traces are sent", extra=log_fields(to=traces.place))
    return traces


def _asked_by(environment: Mapping[str, str]) -> str:
    """The variable that asks for traces; empty: none does, or another says that there be none."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    if environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return ""
    return next((name for name in _ENDPOINTS if environment.get(name, "").strip()), "")


def _why_not(environment: Mapping[str, str]) -> str:
    for name in _PROTOCOLS:
        if protocol := environment.get(name, "").strip():
            if protocol == _PROTOCOL:
                return ""
            return f"{name} is `{protocol}`, and only `{_PROTOCOL}` is spoken (port 4318 mostly)"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if exporter not in ("", "otlp"):
        return f"OTEL_TRACES_EXPORTER is `{exporter}`, and only `otlp` is known"
    return ""
