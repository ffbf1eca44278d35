"""Whom the reactor tells, as small Protocols; `app.py` connects the real ones."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rolecall.workqueue import Key, Urgency


class Sink(Protocol):
    """Takes keys; the queue is the real one."""

    def add(self, key: Key, urgency: Urgency) -> None:
        """Reconcile this key, this soon; must not block."""
        ...


class Onlooker(Protocol):
    """Wants to know which CRs there are, for metrics and for forgetting what is gone."""

    def seen(self, key: Key, created: datetime) -> None:
        """The CR exists since then; may come several times."""
        ...

    def gone(self, key: Key) -> None:
        """The CR exists no more."""
        ...
