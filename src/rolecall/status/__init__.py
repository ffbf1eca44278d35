"""Computes conditions from what happened, and writes them once; never touches what is not ours."""

from rolecall.status.changes import (
    Cancelled,
    Change,
    Ended,
    Held,
    Refused,
    Started,
    Verdict,
    conditions_of,
    generation_of,
)
from rolecall.status.conditions import FAILED, FAILURE, SUCCESSFUL, find, is_true
from rolecall.status.conflicts import (
    ConflictSafe,
    OnWritten,
    VanishedError,
    WritableCluster,
    nobody,
)
from rolecall.status.extras import NOT_CONVERGING, PAUSED, READY
from rolecall.status.writer import StatusMissingError, StatusWriter

__all__ = [
    "FAILED",
    "FAILURE",
    "NOT_CONVERGING",
    "PAUSED",
    "READY",
    "SUCCESSFUL",
    "Cancelled",
    "Change",
    "ConflictSafe",
    "Ended",
    "Held",
    "OnWritten",
    "Refused",
    "Started",
    "StatusMissingError",
    "StatusWriter",
    "VanishedError",
    "Verdict",
    "WritableCluster",
    "conditions_of",
    "find",
    "generation_of",
    "is_true",
    "nobody",
]
