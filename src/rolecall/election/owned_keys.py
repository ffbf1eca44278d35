"""Stands between the sources of keys and the queue: only keys that are this replica's wait there.

Every replica follows every CR, since the API server cannot divide a stream by a hash. So whatever
happens is seen by all, and queued by the one that may act for it.
"""

from __future__ import annotations

from collections.abc import Callable

from rolecall.election.slot import Election
from rolecall.workqueue import Cause, Key, Queue, Urgency


class OwnedKeys:
    """A `Sink`, for CRs, for what plays made and for what they read."""

    def __init__(
        self,
        queue: Queue,
        election: Election,
        *,
        on_edited: Callable[[Key], None] = lambda _: None,
        drop_brought: Callable[[Key], object] = lambda _: None,
    ) -> None:
        """`on_edited`: of a CR that was created, edited or deleted, whose run may be pointless now.

        `drop_brought`: of a key that is another's: nothing here will ask for what its event brought.
        Not of the first list, which comes before a replica knows what is its own.
        """
        self._queue, self._election = queue, election
        self._on_edited, self._drop_brought = on_edited, drop_brought

    def add(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        """Something happened to a CR, or to what it depends on."""
        if self._election.hand_for(key) is not None:
            self._queue.add(key, urgency, cause)
        else:
            if urgency is not Urgency.STARTUP:
                self._drop_brought(key)
            self._election.leave_to_others(key, urgency, cause)
        if urgency is Urgency.EDIT:
            self._on_edited(key)

    def add_at_once(self, key: Key, cause: Cause) -> None:
        """Run the key at once, past what it waits for."""
        if self._election.hand_for(key) is not None:
            self._queue.add_at_once(key, cause)
