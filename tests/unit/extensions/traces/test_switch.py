"""Traces are off by default, and say why where there can be none."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from rolecall.clock import SystemClock
from rolecall.extensions import traces
from rolecall.extensions.traces import TurnTraces
from rolecall.extensions.traces import sent as sent_module

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
ASKED = {ENDPOINT: "http://user:secret@collector:4318/?key=secret"}


def opened(**environment: str) -> TurnTraces | None:
    return traces.open_traces(environment, SystemClock(), "0.1.0")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {ENDPOINT: " "},
        {**ASKED, "OTEL_SDK_DISABLED": "TRUE"},
        {**ASKED, "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_traces_are_off_by_default(
    environment: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert opened(**environment) is None
    assert not caplog.messages


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "only `http/protobuf` is spoken"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "only `otlp` is known"),
    ],
)
def test_what_is_not_spoken_is_said(
    environment: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert opened(**ASKED, **environment) is None
    assert said in caplog.text


def test_extra_that_is_missing_is_named_with_the_way_to_get_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rolecall.extensions.traces.sent", None)
    assert opened(**ASKED) is None
    (message,) = caplog.messages
    assert f"though {ENDPOINT} is set: the extra `otel` is not installed" in message
    assert message.endswith("hint: pip install 'rolecall[otel]'")


def test_library_that_refuses_a_setting_costs_the_traces_alone(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise ValueError("Invalid timeout")

    monkeypatch.setattr(sent_module, "OTLPSpanExporter", refuse)
    assert opened(**ASKED) is None
    assert "Invalid timeout" in caplog.text


def test_endpoint_is_reported_without_secrets(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, ASKED[ENDPOINT])
    with caplog.at_level(logging.INFO):
        found = opened(**ASKED)
    assert found is not None
    found.close(1.0)
    (record,) = caplog.records
    assert record.__dict__["fields"] == {"to": "http://collector:4318"}


@pytest.mark.slow
def test_engine_without_traces_imports_nothing_of_the_library() -> None:
    code = "import sys, rolecall.app; sys.exit('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
