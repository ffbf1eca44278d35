"""Hands out keys: no duplicates, one worker per key, by urgency with ageing, delays, backoff."""

from rolecall.workqueue.cause import (
    CREATION,
    DELETION,
    EDIT,
    PAUSING,
    PERIOD,
    PERSON,
    RESUMED,
    ROLE,
    SET_BACK,
    START,
    UNREPORTED,
    Cause,
)
from rolecall.workqueue.delays import Delayed
from rolecall.workqueue.key import Key, Urgency, part_of
from rolecall.workqueue.lanes import Waiting
from rolecall.workqueue.queue import Queue, QueueClosedError, Turn
from rolecall.workqueue.run_slots import Limits
from rolecall.workqueue.snapshot import QueueSnapshot, Waits

__all__ = [
    "CREATION",
    "DELETION",
    "EDIT",
    "PAUSING",
    "PERIOD",
    "PERSON",
    "RESUMED",
    "ROLE",
    "SET_BACK",
    "START",
    "UNREPORTED",
    "Cause",
    "Delayed",
    "Key",
    "Limits",
    "Queue",
    "QueueClosedError",
    "QueueSnapshot",
    "Turn",
    "Urgency",
    "Waiting",
    "Waits",
    "part_of",
]
