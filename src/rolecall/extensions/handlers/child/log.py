"""What handlers log goes to the engine, which prints it as its own; kopf's own chatter stays here."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import kopf

from rolecall.extensions.handlers.child.calls import current_call
from rolecall.extensions.handlers.child.link import Link

_KOPF = str(Path(kopf.__file__).parent)
_LOGGERS = f"{_KOPF}/_core/actions/loggers.py"
_PASSED_ON_BY = (_LOGGERS, logging.__file__, __file__)
# The end of a call reports the failure of its handler: once, with its place.
_REPORTED_AT_THE_END = ("execution.py", "daemons.py")


class ToEngine(logging.Handler):
    def __init__(self, link: Link, password: str, *, is_debug: bool) -> None:
        super().__init__()
        self._link, self._password, self._is_debug = link, password, is_debug

    def emit(self, record: logging.LogRecord) -> None:
        if (file := _file_of(record)).startswith(_KOPF):
            is_reported_later = file.endswith(_REPORTED_AT_THE_END)
            if (record.levelno < logging.WARNING or is_reported_later) and not self._is_debug:
                return
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message += f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        self._link.send(
            {
                "message_type": "logged",
                "level": record.levelno,
                "message": message.replace(self._password, "***"),
                "cr": getattr(record, "k8s_ref", None),
                "call": current_call(),
            }
        )


def _file_of(record: logging.LogRecord) -> str:
    """Who logged; loggers that kopf gives to events and webhooks name a file of kopf for all."""
    if record.pathname != _LOGGERS:
        return record.pathname
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in _PASSED_ON_BY:
        frame = frame.f_back
    return frame.f_code.co_filename


def log_to(link: Link, password: str, *, is_debug: bool) -> None:
    """From now on; `is_debug`: all that kopf logs as well."""
    root = logging.getLogger()
    root.handlers[:] = [ToEngine(link, password, is_debug=is_debug)]
    root.setLevel(logging.DEBUG if is_debug else logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.INFO)
