"""The one Lease that all replicas of an operator know, whatever way they divide their work.

The way is the number of shards and a digest of which CRs are watched. Members that watch other CRs
would hold shards with CRs that they never see, and those CRs would have no replica.

Promise: `proven_at` is a moment on our clock before the last proof that this way of working is in
force: a replica that works otherwise must first see the Lease unchanged for a whole lease, and it sees
a change later than that moment. The Lease is never released: it belongs to all replicas that work this
way.

All members hold it together, so one renewal serves all. A member renews it only if two of its reads
show no difference; if they differ, another member renewed it after the first of them.

All replicas compare the text of its holder, also replicas without shards, which then wait like
standbys. If the Lease is missing, we create it without a real holder, and take it after a whole lease:
a leader whose Lease was deleted by hand keeps writing for a while.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from rolecall.clock import Clock
from rolecall.election import Division, holder_of, is_released, new_lease, renewed, taken
from rolecall.extensions.shards.lease_calls import LeaseCalls
from rolecall.extensions.shards.lease_shapes import WAY, Naming, lasts_s, version_of
from rolecall.json_object import Json, as_map
from rolecall.kube import ConflictError, NotFoundError
from rolecall.log_fields import log_fields
from rolecall.settings import ElectionSettings

_logger = logging.getLogger(__name__)
_NO_HOLDER_YET = "no-holder-yet"


class ModeLease:
    """Keeps proof that replicas work by shards, and by as many as this one."""

    def __init__(
        self,
        calls: LeaseCalls,
        naming: Naming,
        settings: ElectionSettings,
        clock: Clock,
        on_taken_away: Callable[[str], None],
    ) -> None:
        self._calls = calls
        self._naming = naming
        self._settings = settings
        self._clock = clock
        self._on_taken_away = on_taken_away
        self.proven_at = float("-inf")
        self._is_ours = False  # as far as the last look showed
        self.why_not = ""
        self.silent_in_s = float("inf")  # until it may be taken, if no replica renews it
        self.looked_at: float | None = None  # when the last look that was answered was asked for
        self._spec: Json | None = None  # what that look showed
        self._version = ""
        self._version_since = 0.0

    async def keep(self) -> None:
        """Look, and renew or take it where that is ours to do; raises `ClusterError`."""
        if not await self._look_and_write():
            await self._look_and_write()  # modified concurrently: that may be our proof

    async def _look_and_write(self) -> bool:
        """Returns False if another replica wrote it concurrently."""
        asked_at, self.silent_in_s = self._clock.boottime(), float("inf")
        try:
            found = await self._calls.get(self._naming.id)
        except NotFoundError:
            return await self._create(asked_at)
        self._see(found)
        if holder_of(found) == self._naming.mode_text:
            was_first = await self._keep_ours(found)
        else:
            was_first = True
            self._lost_to(holder_of(found))
            self.silent_in_s = self._silent_in_s(found)
            if self.silent_in_s <= 0:
                self.silent_in_s = float("inf")  # if that fails, there is time
                lease = taken(found, *self._as_taken(), self._clock.now())
                was_first = await self._write(lease)
        self._remember(found, asked_at)
        return was_first

    async def _keep_ours(self, found: Json) -> bool:
        self._found_ours()
        is_renewed = self.looked_at is not None and self._spec != found.get("spec")
        # A promise shorter than our own deadlines proves nothing to us.
        if is_renewed and lasts_s(found) >= self._settings.lease_s:
            assert self.looked_at is not None
            self._prove(self.looked_at)
        due_at = self.proven_at + self._settings.renew_deadline_s / 2
        if not is_renewed or self._clock.boottime() >= due_at:
            return await self._write(self._renewed(found))
        return True

    async def _write(self, lease: Json) -> bool:
        """Write it, unless it changed."""
        sent_at = self._clock.boottime()
        try:
            written = await self._calls.replace(lease)
        except (ConflictError, NotFoundError):
            return False
        self._prove(sent_at)
        self._found_ours()
        self._see(written)
        self._remember(written, sent_at)
        return True

    async def _create(self, asked_at: float) -> bool:
        """Create a deleted Lease. Only while our proof is valid, we know that it was still ours."""
        is_ours = asked_at < self.proven_at + self._settings.renew_deadline_s
        if not is_ours:
            self._lost_to(_NO_HOLDER_YET)
        holder = self._naming.mode_text if is_ours else _NO_HOLDER_YET
        naming, sent_at = self._naming, self._clock.boottime()
        seconds, now = self._settings.lease_s, self._clock.now()
        try:
            made = await self._calls.create(
                new_lease(naming.namespace, naming.id, holder, seconds, now)
            )
        except ConflictError:
            self._remember({}, asked_at)
            return False
        if is_ours:
            self._prove(sent_at)
        self._see(made)
        self._remember(made, sent_at)
        return True

    def _renewed(self, found: Json) -> Json:
        """Renewed, and with the longest promise: members may have other times than this one."""
        seconds = max(lasts_s(found), self._settings.lease_s)
        lease = renewed(found, self._clock.now())
        return {**lease, "spec": {**lease["spec"], "leaseDurationSeconds": max(1, round(seconds))}}

    def _as_taken(self) -> tuple[str, float]:
        return self._naming.mode_text, self._settings.lease_s

    def _see(self, lease: Json) -> None:
        if version_of(lease) != self._version:
            self._version, self._version_since = version_of(lease), self._clock.boottime()

    def _remember(self, lease: Json, asked_at: float) -> None:
        if self.looked_at is None or asked_at > self.looked_at:
            self._spec, self.looked_at = as_map(lease.get("spec")), asked_at

    def _prove(self, moment: float) -> None:
        self.proven_at = max(self.proven_at, moment)

    def _silent_in_s(self, found: Json) -> float:
        """Until it was not renewed for as long as its holder promised, by our clock; 0: released."""
        if is_released(found):
            return 0.0
        patience_s = max(lasts_s(found), self._settings.lease_s)
        return self._version_since + patience_s - self._clock.boottime()

    def _found_ours(self) -> None:
        if not self._is_ours:
            self._is_ours, self.why_not = True, ""
            fields = log_fields(lease=self._naming.id, shards=self._naming.count)
            _logger.info("replicas work by shards", extra=fields)

    def _lost_to(self, holder: str) -> None:
        self._is_ours = False
        why_not, hint = _why_not(holder, self._naming)
        if self.why_not != why_not:
            self.why_not = why_not
            _logger.warning(why_not, extra=_hinted(hint, self._naming))
        if self.proven_at > float("-inf"):
            self.proven_at = float("-inf")
            self._on_taken_away(why_not)


def _why_not(holder: str, naming: Naming) -> tuple[str, str]:
    """Why this replica cannot work now, and what to do about it."""
    if holder in (_NO_HOLDER_YET, ""):
        return "waiting for one lease time, since another replica may still be writing", ""
    division = Division.of(holder)
    if division is not None and division.way != WAY:
        division = None
    if division is not None and division.count == str(naming.count):
        return (
            "replicas here watch other CRs than this one: the digest of kinds, selectors and namespaces"
            f" is `{division.watched or 'missing'}`, here `{naming.watched or 'missing'}`; it waits"
            " until they are gone"
        ), "start all replicas with the same watches.yaml and the same WATCH_NAMESPACE"
    if division is not None:
        return (
            f"replicas here divide keys into {division.count} shards, this one into"
            f" {naming.count}; it waits until they are gone"
        ), "give all replicas the same `--shards`"
    return (
        f"replica `{holder}` works without shards; this one waits until it is gone"
    ), "start all replicas with `--shards`, or none"


def _hinted(hint: str, naming: Naming) -> dict[str, Any]:
    fields = {"lease": f"{naming.namespace}/{naming.id}"}
    return log_fields(**fields, hint=hint) if hint else log_fields(**fields)
