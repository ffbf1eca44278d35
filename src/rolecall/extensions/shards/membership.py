"""Our own member Lease: its renewals prove to the other replicas that we may hold our shards.

Promise: `renewed_at` is a moment on our clock before the last renewal of our Lease. A replica that ends
our tenure saw that renewal, or a later one, unchanged for a whole lease. A tenure that another replica
ended, or whose Lease is deleted or not ours, is never resumed, even if the Lease is restored: we call
`on_ended`, and the next renewal begins a new tenure.

The hard part: a conflict may be our own renewal whose response was lost. So we read the Lease again: it
is ours as long as it is the same object, names us, and is not marked as ended.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from rolecall.clock import Clock
from rolecall.extensions.shards.lease_calls import LeaseCalls
from rolecall.extensions.shards.lease_shapes import (
    MemberRecord,
    Naming,
    Profile,
    ended_member,
    holder_text,
    member_lease,
    read_member,
    renewed_member,
    uid_of,
    version_of,
)
from rolecall.json_object import Json
from rolecall.kube import ConflictError, NotFoundError
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)


def fresh_tenure() -> str:
    return secrets.token_hex(5)


class Membership:
    """One tenure after the other."""

    def __init__(
        self,
        calls: LeaseCalls,
        naming: Naming,
        lease_s: float,
        clock: Clock,
        on_ended: Callable[[str], None],
    ) -> None:
        self._calls = calls
        self._naming = naming
        self._lease_s = lease_s
        self._clock = clock
        self._on_ended = on_ended
        self.tenure = fresh_tenure()
        self.renewed_at = float("-inf")
        self._lease: Json | None = None
        self._created_at = float("inf")  # when it was known to be there

    async def renew(self, profile: Profile) -> None:
        """Say that we are still there, and what we are; raises `ClusterError`."""
        tenure, sent_at = self.tenure, self._clock.boottime()
        try:
            written = await self._write(profile)
        except NotFoundError:
            if self._lease is None:
                raise  # there is no such namespace
            self._end(tenure, "its Lease is gone")
            return
        except ConflictError:
            await self._renew_after_conflict(tenure, profile)
            return
        self._renewed(tenure, written, sent_at)

    def note(self, listed: MemberRecord | None, listed_at: float) -> None:
        """A list arrived."""
        if listed is None:
            if self._created_at < listed_at:
                self._end(self.tenure, "its Lease is gone")
        elif why := self._why_over(listed):
            self._end(self.tenure, why)

    async def end(self, host: str) -> None:
        """Mark this tenure as ended, so that no replica needs to wait for its lease to expire."""
        if self._lease is None:
            return
        lease, self._lease = self._lease, None
        by = holder_text(host, self.tenure)
        await self._calls.replace(ended_member(lease, self._naming, by, self._clock.now()))

    async def remove(self) -> None:
        """Take our Lease away; no shard names us any more."""
        if self._lease is None:
            return
        lease, self._lease = self._lease, None
        await self._calls.delete(self._naming.member(self.tenure), version_of(lease))

    async def _write(self, profile: Profile) -> Json:
        naming, now = self._naming, self._clock.now()
        if self._lease is None:
            lease = member_lease(naming, self.tenure, profile, self._lease_s, now)
            return await self._calls.create(lease)
        return await self._calls.replace(renewed_member(self._lease, naming, profile, now))

    async def _renew_after_conflict(self, tenure: str, profile: Profile) -> None:
        try:
            found = await self._calls.get(self._naming.member(tenure))
        except NotFoundError:
            self._end(tenure, "its Lease is gone")
            return
        if tenure != self.tenure:
            return
        if why := self._why_over(read_member(tenure, found)):
            self._end(tenure, why)
            return
        self._lease = found
        sent_at = self._clock.boottime()
        try:
            self._renewed(tenure, await self._write(profile), sent_at)
        except ConflictError:
            return  # the next renewal looks again
        except NotFoundError:
            self._end(tenure, "its Lease is gone")

    def _renewed(self, tenure: str, lease: Json, sent_at: float) -> None:
        if tenure != self.tenure:
            return
        if self._created_at == float("inf"):
            self._created_at = self._clock.boottime()
            _logger.info("member of shards", extra=log_fields(lease=self._naming.member(tenure)))
        self._lease = lease
        self.renewed_at = max(self.renewed_at, sent_at)

    def _why_over(self, found: MemberRecord) -> str:
        if found.is_ended:
            return "another replica saw its Lease unchanged for a whole lease"
        if not found.is_sound:
            return "its Lease does not name it"
        if self._lease is not None and uid_of(self._lease) != uid_of(found.lease):
            return "its Lease is not the one that it made"
        return ""

    def _end(self, tenure: str, why: str) -> None:
        if tenure != self.tenure:
            return
        self.tenure = fresh_tenure()
        self.renewed_at = float("-inf")
        self._lease = None
        self._created_at = float("inf")
        _logger.warning(
            "this replica's part in shards is over; it begins anew",
            extra=log_fields(why=why, lease=self._naming.member(tenure)),
        )
        self._on_ended(why)
