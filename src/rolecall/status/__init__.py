"""Computes conditions from what happened, and writes them once; never touches what is not ours."""

from rolecall.status.ansible_conditions import FAILED, FAILURE, SUCCESSFUL, find, is_true
from rolecall.status.changes import (
    Cancelled,
    Ended,
    InFlight,
    NotRun,
    Paused,
    Started,
    StatusChange,
    Verdict,
    conditions_of,
    generation_of,
)
from rolecall.status.object_writer import (
    ObjectApi,
    ObjectWriter,
    OnOwnWrite,
    VanishedError,
)
from rolecall.status.own_conditions import NOT_CONVERGING, PAUSED, READY
from rolecall.status.writer import StatusMissingError, StatusWriter

__all__ = [
    "FAILED",
    "FAILURE",
    "NOT_CONVERGING",
    "PAUSED",
    "READY",
    "SUCCESSFUL",
    "Cancelled",
    "Ended",
    "InFlight",
    "NotRun",
    "ObjectApi",
    "ObjectWriter",
    "OnOwnWrite",
    "Paused",
    "Started",
    "StatusChange",
    "StatusMissingError",
    "StatusWriter",
    "VanishedError",
    "Verdict",
    "conditions_of",
    "find",
    "generation_of",
    "is_true",
]
