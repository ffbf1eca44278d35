"""A handler that waits for no run."""

from __future__ import annotations

import threading
from typing import Any

import kopf


@kopf.timer("besides", interval=0.3)
async def tick(logger: Any, **_: Any) -> None:
    """All the time."""
    logger.info("tick")


@kopf.daemon("besides", cancellation_timeout=0.5)
def stubborn(**_: Any) -> None:
    """In a thread, which cannot be ended."""
    threading.Event().wait()
