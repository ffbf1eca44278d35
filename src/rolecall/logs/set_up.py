"""Point the logging library at one stream, once, before anything is logged.

Libraries are quiet unless asked: their messages rarely help a reader of the engine's log.
"""

from __future__ import annotations

import logging
from typing import TextIO

from rolecall.logs.formats import JsonFormatter, PeopleFormatter
from rolecall.settings import LogSettings

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "error": logging.ERROR,
    "panic": logging.CRITICAL,
}
_LIBRARIES_SPEAK_FROM = 2


def set_up_logs(settings: LogSettings, stream: TextIO) -> None:
    """Send all records to `stream` in the chosen format."""
    trace_from = _LEVELS[settings.stacktrace_level]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        JsonFormatter(trace_from, settings.time_encoding)
        if settings.is_json
        else PeopleFormatter(trace_from)
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    is_detailed = settings.detail >= _LIBRARIES_SPEAK_FROM
    root.setLevel(logging.DEBUG if is_detailed else logging.WARNING)
    logging.getLogger("rolecall").setLevel(_LEVELS[settings.level])
    logging.captureWarnings(capture=True)
