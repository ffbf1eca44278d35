"""Reports which replica has which shards: in metrics, in `readyz?verbose`, and with an Event for shards
without a holder.

A shard without a holder is not the fault of this replica, so it does not make the engine unready: to
remove it from its Service or to restart it would only leave more shards without a holder. Every replica
logs such a shard and shows it in its metrics. Only the holder of the lowest held shard posts the Event,
on the operator's own pod, so that there is one Event and not one for each replica. A replica that
became that holder between the two Events of a gap posts only the second.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from rolecall.clock import Clock
from rolecall.extensions.shards.figures import ShardFigures
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.view import ShardsView
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.reconcile import EventRecorder

# More are counted, not named.
_MOST_NAMED = 8
# At the very first start all shards have no holder for the lease time, until the second look after it.
_LOOKS = 2
_logger = logging.getLogger(__name__)


class ShardReport:
    """Computes each report from the current view; `run` looks periodically, for the Event."""

    def __init__(
        self,
        settings: ShardSettings,
        view: Callable[[], ShardsView],
        clock: Clock,
        *,
        events: EventRecorder,
        find_pod: Callable[[], Awaitable[Json | None]],
    ) -> None:
        self._settings = settings
        self._view = view
        self._clock = clock
        self._events = events
        self._find_pod = find_pod
        self._missed: Sequence[int] = ()  # what was overdue at the last look
        self._has_posted = False

    def figures(self) -> ShardFigures:
        """For metrics."""
        view = self._view()
        overdue = self._overdue(view)
        return ShardFigures(
            view.count, len(_own(view)), len(overdue), len(view.members), bool(view.why_not)
        )

    def note(self) -> str:
        """For the readiness probe."""
        view = self._view()
        replicas = "1 replica" if len(view.members) == 1 else f"{len(view.members)} replicas"
        parts = [f"has {len(_own(view))} of {view.count}, {replicas}"]
        if view.why_not:
            parts = [f"takes none: {view.why_not}"]
        if overdue := self._overdue(view):
            parts.append(_gap(view, overdue))
        return "; ".join(parts)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await self._clock.sleep(self._settings.election.retry_s)

    async def look(self) -> None:
        view = self._view()
        overdue = self._overdue(view)
        began, ended = overdue and not self._missed, self._missed and not overdue
        if began:
            _logger.error(
                "shards without a replica, so that their CRs wait", extra=_fields(overdue)
            )
        elif ended:
            _logger.info("every shard has a replica again", extra=_fields(self._missed))
        self._missed = overdue
        if not overdue:
            self._has_posted = False
        if not _is_lowest_ours(view):
            return
        if overdue and not self._has_posted:
            self._has_posted = await self._post("Warning", "ShardsUnheld", _gap(view, overdue))
        elif ended:
            message = f"every one of the {view.count} shards has a replica again"
            await self._post("Normal", "ShardsHeld", message)

    def _overdue(self, view: ShardsView) -> Sequence[int]:
        """The shards without a holder for longer than a lease and the time that a takeover needs.

        A replica that may take no shards, because others work in another way or because it cannot read
        the Leases, reports no gap.
        """
        if view.why_not:
            return []
        election = self._settings.election
        most_s = election.lease_s + _LOOKS * election.retry_s
        return [shard for shard, since_s in sorted(view.unheld.items()) if since_s > most_s]

    async def _post(self, kind: str, reason: str, message: str) -> bool:
        if (pod := await self._find_pod()) is None:
            return False
        self._events.record(pod, kind=kind, reason=reason, message=message)
        return True


def _own(view: ShardsView) -> Sequence[int]:
    return [shard for each in view.members if each.is_self for shard in each.parts]


def _is_lowest_ours(view: ShardsView) -> bool:
    held = [shard for each in view.members for shard in each.parts]
    return bool(held) and min(held) in _own(view)


def _gap(view: ShardsView, overdue: Sequence[int]) -> str:
    longest_s = max(view.unheld[shard] for shard in overdue)
    named = ", ".join(map(str, overdue[:_MOST_NAMED]))
    more = f" and {len(overdue) - _MOST_NAMED} more" if len(overdue) > _MOST_NAMED else ""
    are = "is" if len(overdue) == 1 else "are"
    return (
        f"{len(overdue)} of {view.count} shards {are} without a replica for up to {longest_s:.0f} s,"
        f" so that their CRs wait: {named}{more}"
    )


def _fields(shards: Sequence[int]) -> dict[str, dict[str, object]]:
    return log_fields(count=len(shards), shards=",".join(map(str, shards[:_MOST_NAMED])))
