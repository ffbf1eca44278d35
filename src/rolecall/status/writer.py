"""Writes `.status`: once for each change, never over another client's write, never without need.

A merge patch of the status subresource carries the conditions and the observed generation, and nothing
else: keys of others are not even sent. Replacing the whole object, as the Go operator does, was
rejected: it sends back what it does not understand. Server-side apply was rejected too: conditions of
most CRDs are atomic lists, in which it would take the whole list from a role that writes its own.
"""

from __future__ import annotations

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.status.changes import StatusChange, status_of
from rolecall.status.object_writer import ObjectWriter
from rolecall.status.pruning import PrunedFields


class StatusMissingError(RolecallError):
    """The kind has no status subresource."""


class StatusWriter:
    """The only place that writes `.status`."""

    def __init__(self, objects: ObjectWriter, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock
        self._pruned = PrunedFields(clock)

    async def write(self, gvk: Gvk, cr: Json, change: StatusChange) -> Json:
        """Apply `change`; returns the object as it is then: `cr` itself where nothing was to do."""

        async def attempt(known: Json) -> Json:
            return await self._write_once(gvk, known, change)

        return await self._objects.write(gvk, cr, attempt)

    async def _write_once(self, gvk: Gvk, cr: Json, change: StatusChange) -> Json:
        now = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        wanted = self._pruned.without_pruned(gvk, change(cr, now))
        present = status_of(cr)
        changed = {key: value for key, value in wanted.items() if present.get(key) != value}
        if not changed:
            return cr
        try:
            written = await self._objects.patch(gvk, cr, {"status": changed}, subresource="status")
        except NotFoundError as error:
            await self._objects.read_again(gvk, cr)
            raise _missing(gvk) from error
        self._pruned.compare(gvk, changed, status_of(written))
        return written


def _missing(gvk: Gvk) -> StatusMissingError:
    return StatusMissingError(
        f"kind `{gvk.kind}` has no status subresource, so no status can be written",
        hint=(
            "add `subresources: {status: {}}` to its version in the CRD, "
            "or `manageStatus: false` to its entry in watches.yaml"
        ),
    )
