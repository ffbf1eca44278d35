"""Computes conditions from what happened, and writes them once; never touches what is not ours."""

from rolecall.status.ansible_conditions import (
    FAILED,
    FAILURE,
    FALSE,
    SUCCESSFUL,
    TRUE,
    find,
    is_true,
)
from rolecall.status.changes import (
    Cancelled,
    Ended,
    InFlight,
    NotRun,
    Observed,
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
from rolecall.status.own_conditions import DRIFTED, NOT_CONVERGING, PAUSED, READY
from rolecall.status.writer import StatusMissingError, StatusWriter

__all__ = [
    "DRIFTED",
    "FAILED",
    "FAILURE",
    "FALSE",
    "NOT_CONVERGING",
    "PAUSED",
    "READY",
    "SUCCESSFUL",
    "TRUE",
    "Cancelled",
    "Ended",
    "InFlight",
    "NotRun",
    "ObjectApi",
    "ObjectWriter",
    "Observed",
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
