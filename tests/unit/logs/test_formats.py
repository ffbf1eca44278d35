"""One record, one line, whatever is in it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rolecall.logs import set_up_logs
from rolecall.logs.formats import format_time
from rolecall.settings import LogSettings


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root, ours = logging.getLogger(), logging.getLogger("rolecall")
    before = (list(root.handlers), root.level, ours.level)
    yield io.StringIO()
    root.handlers[:], level, our_level = before
    root.setLevel(level)
    ours.setLevel(our_level)
    logging.captureWarnings(capture=False)


def said(stream: io.StringIO, log_settings: LogSettings, /, **record: Any) -> str:
    set_up_logs(log_settings, stream)
    logging.getLogger("rolecall.room").info(record.pop("msg", "run finished"), extra=record)
    return stream.getvalue()


def test_line_for_people_has_message_then_fields(stream: io.StringIO) -> None:
    line = said(stream, LogSettings(), kind="App", fields={"name": "x", "why": "two words"})
    assert line.endswith(' info   run finished  kind=App name=x why="two words"\n')


def test_text_from_a_cr_cannot_forge_a_line_or_move_the_cursor(stream: io.StringIO) -> None:
    line = said(stream, LogSettings(), why="x\n2026 info  all good\x1b[2J")
    assert line.count("\n") == 1
    assert "\x1b" not in line
    assert "\\n2026" in line


def test_message_of_several_lines_is_indented(stream: io.StringIO) -> None:
    lines = said(stream, LogSettings(), msg="first\nsecond").splitlines()
    assert lines[1] == "    second"


def test_json_line_has_the_go_operators_keys(stream: io.StringIO) -> None:
    line = json.loads(said(stream, LogSettings(is_json=True), fields={"name": "x", "job": "7"}))
    assert line.pop("ts").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "room",
        "msg": "run finished",
        "name": "x",
        "job": "7",
    }


def test_field_cannot_hide_the_message(stream: io.StringIO) -> None:
    line = json.loads(said(stream, LogSettings(is_json=True), fields={"msg": "other"}))
    assert (line["msg"], line["msg_"]) == ("run finished", "other")


@pytest.mark.parametrize(("level", "has_trace"), [("error", True), ("panic", False)])
def test_traceback_is_shown_from_the_level_on(
    stream: io.StringIO, level: str, has_trace: bool
) -> None:
    set_up_logs(LogSettings(is_json=True, stacktrace_level=level), stream)
    try:
        raise ValueError("boom")
    except ValueError:
        logging.getLogger("rolecall").exception("internal error")
    line = json.loads(stream.getvalue())
    assert line["error"] == "boom"
    assert ("stacktrace" in line) is has_trace


@pytest.mark.parametrize(
    ("settings", "speakers"),
    [
        (LogSettings(), {"rolecall"}),
        (LogSettings(level="debug", detail=1), {"rolecall"}),
        (LogSettings(level="debug", detail=2), {"rolecall", "aiohttp"}),
        (LogSettings(level="error"), set()),
    ],
)
def test_libraries_speak_only_when_asked(
    stream: io.StringIO, settings: LogSettings, speakers: set[str]
) -> None:
    set_up_logs(replace(settings, is_json=True), stream)
    logging.getLogger("rolecall").info("hello")
    logging.getLogger("aiohttp.access").info("hello")
    names = {json.loads(line)["logger"] for line in stream.getvalue().splitlines()}
    assert {one.split(".")[0] for one in names} == speakers


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("epoch", 1.5),
        ("millis", 1500.0),
        ("nano", 1500000000),
        ("iso8601", "1970-01-01T00:00:01.500Z"),
        ("rfc3339", "1970-01-01T00:00:01Z"),
        ("rfc3339nano", "1970-01-01T00:00:01.500000Z"),
    ],
)
def test_time_is_spelled_as_asked(encoding: str, text: object) -> None:
    assert format_time(1.5, encoding) == text
