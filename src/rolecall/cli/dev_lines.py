"""The engine's own log for `rolecall run --dev`: short lines; a run's start and end stand out."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, TextIO

from rolecall.cli.terminal import Colour, screen_of_stream
from rolecall.documents import format_duration
from rolecall.logs import fields_of
from rolecall.plain_text import harmless, plain

# Logged at every start; none of it calls for an action of the developer.
QUIET = frozenset(
    {"settings", "search paths", "proxy is listening", "Ansible-runner exited successfully"}
)
_WHERE = ("kind", "namespace", "name")


def is_worth_a_line(record: logging.LogRecord) -> bool:
    """Whether a developer wants to read it."""
    return record.levelno > logging.INFO or record.getMessage() not in QUIET


def show_dev_lines(stream: TextIO) -> None:
    """From now on, on this stream."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(DevLines(stream))
        handler.addFilter(is_worth_a_line)


class DevLines(logging.Formatter):
    """`09:13:44 Website default/web: run starts: edit of generation 4`."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def format(self, record: logging.LogRecord) -> str:
        """One record, in one line where it has no error of several."""
        fields = fields_of(record)
        what, colour = _what(record, fields)
        when = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        subject = _subject(fields)
        screen = screen_of_stream(self._stream)
        head = screen.painted(when, Colour.GREY)
        text = f"{subject}: {what}" if subject else what
        lines = [f"{head} {screen.painted(plain(text), colour)}"]
        if record.exc_info and record.exc_info[1] is not None:
            lines += self.formatException(record.exc_info).splitlines()
        return "\n    ".join([lines[0], *(harmless(line) for line in lines[1:])])


def _what(record: logging.LogRecord, fields: dict[str, Any]) -> tuple[str, Colour | None]:
    match record.getMessage():
        case "run started":
            return f"run starts: {fields.get('cause', '')}", Colour.BLUE
        case "run finished" if fields.get("outcome") == "cancelled":
            why = f": {fields['why']}" if fields.get("why") else ""
            return f"run cancelled{_took(fields, 'after')}{why}{_next(fields)}", Colour.YELLOW
        case "run finished":
            return f"run succeeded{_took(fields)}{_next(fields)}", Colour.GREEN
        case "run failed" | "reconcile failed":
            error = fields.get("error", "")
            return f"run failed{_took(fields)}: {error}{_next(fields)}", Colour.RED
        case message:
            shown = {key: value for key, value in fields.items() if key not in _WHERE}
            more = " ".join(f"{key}={value}" for key, value in shown.items())
            return f"{message}  {more}".rstrip(), _colour_of(record.levelno)


def _took(fields: dict[str, Any], word: str = "in") -> str:
    seconds = fields.get("seconds")
    return f" {word} {seconds:.1f} s" if isinstance(seconds, int | float) else ""


def _next(fields: dict[str, Any]) -> str:
    seconds = fields.get("next_in_s")
    if not isinstance(seconds, int | float):
        return ""
    if seconds:
        return f"; next in {format_duration(seconds)}"
    return "" if fields.get("outcome") == "cancelled" else "; next at once"


def _subject(fields: dict[str, Any]) -> str:
    kind, namespace, name = (str(fields.get(key) or "") for key in _WHERE)
    place = f"{namespace}/{name}" if namespace else name
    return f"{kind} {place}".strip() if name else ""


def _colour_of(level: int) -> Colour | None:
    if level >= logging.ERROR:
        return Colour.RED
    return Colour.YELLOW if level >= logging.WARNING else None
