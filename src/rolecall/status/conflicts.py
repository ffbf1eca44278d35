"""Writing to an object that others write to as well, without losing a word of either.

A write carries the resource version of what it was computed from. If somebody was faster, the server
says so; then the object is read again and the write is computed anew from what is there now, a bounded
number of times. Retrying the same body with a newer version was rejected: that is how other people's
changes get lost.

The first try trusts the object that the caller has. Where nobody wrote since, which is the rule, no
read is needed; where somebody did, the conflict says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.kube import ConflictError, NotFoundError

Json = dict[str, Any]

# Somebody who writes without a pause wins about two races in three; so many in a row, never. Together
# the pauses are under 4 s: a burst passes meanwhile, and a worker is not held up for longer.
ATTEMPTS = 20
FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.25


class PatchableCluster(Protocol):
    """As much of the API server as careful writing needs."""

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        """Read one object."""
        ...

    async def merge_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> Json:
        """Merge-patch an object or a subresource."""
        ...


class VanishedError(RolecallError):
    """The object is gone, or another one has its name: there is nobody to write to."""


class ConflictSafe:
    """Reads and writes of one and the same object, told apart by its uid."""

    def __init__(self, cluster: PatchableCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock

    async def write(self, gvk: Gvk, cr: Json, attempt: Callable[[Json], Awaitable[Json]]) -> Json:
        """Call `attempt` with `cr`, and with a fresh one after each conflict."""
        for number in range(ATTEMPTS):
            try:
                return await attempt(cr)
            except ConflictError:
                if number == ATTEMPTS - 1:
                    raise
            if number > 0:
                pause_s = FIRST_PAUSE_S * 2.0 ** (number - 1)
                await self._clock.sleep(min(pause_s, LONGEST_PAUSE_S))
            cr = await self.read_again(gvk, cr)
        raise AssertionError("the last attempt returns or raises")

    async def patch(
        self, gvk: Gvk, cr: Json, patch: Mapping[str, Any], *, subresource: str = ""
    ) -> Json:
        """Merge-patch `cr` if it still is as we know it."""
        metadata = cr["metadata"]
        locked = {
            **patch,
            "metadata": {
                **patch.get("metadata", {}),
                "resourceVersion": metadata["resourceVersion"],
            },
        }
        place = (metadata.get("namespace", ""), metadata["name"])
        return await self._cluster.merge_patch(gvk, *place, locked, subresource=subresource)

    async def read_again(self, gvk: Gvk, cr: Json) -> Json:
        """The same object as it is now."""
        metadata = cr["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        try:
            fresh = await self._cluster.get(gvk, namespace, name)
        except NotFoundError as error:
            raise VanishedError(f"{gvk.kind} `{namespace}/{name}` is gone") from error
        if fresh["metadata"].get("uid") != metadata.get("uid"):
            raise VanishedError(f"{gvk.kind} `{namespace}/{name}` was replaced by another one")
        return fresh
