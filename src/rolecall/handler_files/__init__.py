"""Reads files of kopf handlers as text: which there are, for which kinds, and what is wrong."""

from rolecall.handler_files.check import check_handlers, handler_files
from rolecall.handler_files.kinds import AskedKind, KnownKind, asked_kind
from rolecall.handler_files.read import REVIEWING, HandlerFile, KopfHandler, read_handlers

__all__ = [
    "REVIEWING",
    "AskedKind",
    "HandlerFile",
    "KnownKind",
    "KopfHandler",
    "asked_kind",
    "check_handlers",
    "handler_files",
    "read_handlers",
]
