"""One log record as one line for people, or as one JSON object with the Go operator's keys.

Promises that a record stays one record: control characters in values are escaped and continuation lines
are indented, so text from a CR can neither forge a line nor move a terminal's cursor. Fields are
what our callers put into `extra` with `log_fields`, and whatever libraries put there.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "fields"}
_LEVELS = {10: "debug", 20: "info", 30: "warn", 40: "error", 50: "panic"}


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What the caller added to the message."""
    extra = {key: value for key, value in vars(record).items() if key not in _OWN}
    fields = getattr(record, "fields", None)
    return extra | dict(fields) if isinstance(fields, dict) else extra


class _Formatter(logging.Formatter):
    """Common to both: from which level on a traceback is worth its lines."""

    def __init__(self, stacktrace_level: int) -> None:
        super().__init__()
        self._stacktrace_level = stacktrace_level

    def error_and_trace(self, record: logging.LogRecord) -> tuple[str, str]:
        """The exception in one line, and its traceback where the level asks for it."""
        if not record.exc_info or record.exc_info[1] is None:
            return "", ""
        error = record.exc_info[1]
        line = str(error) or repr(error)
        if record.levelno < self._stacktrace_level:
            return line, ""
        return line, self.formatException(record.exc_info)


class PeopleFormatter(_Formatter):
    """`2026-11-21 09:13:44 info   run finished  kind=App name=x`: what happened first, then where."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created).strftime("%Y-%m-%d %H:%M:%S")
        level = _LEVELS.get(record.levelno, record.levelname.lower())
        head, *more = record.getMessage().splitlines() or [""]
        line = f"{when} {level:<5}  {_printable(head)}"
        error, trace = self.error_and_trace(record)
        fields = fields_of(record)
        if error and "error" not in fields:
            fields["error"] = error
        if fields:
            line += "  " + " ".join(f"{key}={_quoted(value)}" for key, value in fields.items())
        tail = [_printable(part) for part in [*more, *trace.splitlines()]]
        return "\n    ".join([line, *tail])


class JsonFormatter(_Formatter):
    """One JSON object: `level`, `ts`, `logger`, `msg`, the fields, `error`, `stacktrace`."""

    def __init__(self, stacktrace_level: int, time_encoding: str = "rfc3339") -> None:
        super().__init__(stacktrace_level)
        self._time_encoding = time_encoding

    def format(self, record: logging.LogRecord) -> str:
        error, trace = self.error_and_trace(record)
        line: dict[str, Any] = {
            "level": _LEVELS.get(record.levelno, record.levelname.lower()),
            "ts": format_time(record.created, self._time_encoding),
            "logger": record.name.removeprefix("rolecall."),
            "msg": record.getMessage(),
        }
        for key, value in fields_of(record).items():
            line[key if key not in line else f"{key}_"] = value
        if error:
            line.setdefault("error", error)
        if trace:
            line["stacktrace"] = trace
        return json.dumps(line, default=str, separators=(",", ":"))


def format_time(seconds: float, encoding: str) -> str | float | int:
    """A moment the way the Go operator's encoders spell it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    match encoding:
        case "epoch":
            return seconds
        case "millis":
            return seconds * 1000
        case "nano":
            return int(seconds * 1_000_000_000)
        case "iso8601":
            return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
        case "rfc3339nano":
            return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case _:
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() or one == "\t" else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _quoted(value: Any) -> str:
    text = _printable(str(value))
    needs_quotes = not text or any(one in text for one in ' "=\t')
    return json.dumps(text, ensure_ascii=False) if needs_quotes else text
