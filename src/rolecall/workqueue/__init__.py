"""Hands out keys: no duplicates, one worker per key, by urgency with ageing, delays, backoff."""

from rolecall.workqueue.capacity import (
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    Capacity,
    read_capacity,
    runs_within,
)
from rolecall.workqueue.key import Key, Urgency
from rolecall.workqueue.queue import Limits, Queue, QueueClosedError, Turn
from rolecall.workqueue.snapshot import QueueSnapshot, Waits

__all__ = [
    "STOCK_RUN_BYTES",
    "WARM_RUN_BYTES",
    "Capacity",
    "Key",
    "Limits",
    "Queue",
    "QueueClosedError",
    "QueueSnapshot",
    "Turn",
    "Urgency",
    "Waits",
    "read_capacity",
    "runs_within",
]
