"""Writing to an object that others write to as well, without losing a word of either.

A write carries the resource version of what it was computed from. If another client was faster, the
server says so. Then the same change is sent as a JSON patch whose `test` steps name uid, generation and
each key that it changes, so that writes to other keys do not matter, however fast they come. Where a
test fails, the object is read again and the change computed anew, a bounded number of times. The JSON
patch is not sent first, because `test` compares values as they are spelled; see decision 0008.
Rejected: retrying the same body with a newer version, which is how other people's changes get lost.

Of a kind without generation each version counts as an edit. So our own are noted, each with the version
before it, which a JSON patch does not return: there the object is read again at once.

The first try trusts the object that the caller has. Without a write in between, which is the rule, no
read is needed; else the API server answers with a conflict.

The Go operator never patches, so rights that were written for it may allow `update` alone. There the
object is read and sent back whole, under its version.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ConflictError, ForbiddenError, NotFoundError, UnprocessableError

# Together the pauses are under 4 s: a burst passes meanwhile, and a worker is not held up for longer.
ATTEMPTS = 20
FIRST_RETRY_PAUSE_S = 0.01
LONGEST_RETRY_PAUSE_S = 0.25


# Called after each write to an object that has no generation: its uid, its version now and before.
OnOwnWrite = Callable[[str, str, str], None]


class ObjectApi(Protocol):
    """As much of the API server as careful writing needs."""

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json: ...

    async def merge_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> Json:
        """Merge-patch an object or a subresource; a `resourceVersion` in the patch is honoured."""

    async def json_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
    ) -> Json:
        """Make all steps or none; a `test` that fails is an `UnprocessableError`."""

    async def replace(self, gvk: Gvk, body: Mapping[str, Any], *, subresource: str = "") -> Json:
        """PUT an object or a subresource; conflict-safe through its `resourceVersion`."""


class VanishedError(RolecallError):
    """The object is gone, or another one has its name, so there is nothing to write to."""


@dataclass(frozen=True, slots=True)
class _Write:
    """What shall be changed in `cr`: keys of one or two of its sections, as in a merge patch."""

    gvk: Gvk
    cr: Json
    changes: Mapping[str, Mapping[str, Any]]
    subresource: str

    @property
    def place(self) -> tuple[Gvk, str, str]:
        metadata = self.cr["metadata"]
        return self.gvk, metadata.get("namespace", ""), metadata["name"]

    @property
    def version(self) -> str:
        return str(self.cr["metadata"]["resourceVersion"])

    def as_merge_patch(self) -> Json:
        """Refused where anything else was written since."""
        metadata = self.changes.get("metadata", {})
        return {**self.changes, "metadata": {**metadata, "resourceVersion": self.version}}

    def as_json_patch(self) -> list[Json]:
        """Refused only where something that matters was written since."""
        metadata = self.cr["metadata"]
        computed_from = {"uid": metadata.get("uid"), "generation": metadata.get("generation")}
        steps = [_test(f"/metadata/{key}", value) for key, value in computed_from.items()]
        for section, changes in self.changes.items():
            present = self.cr.get(section)
            if not isinstance(present, dict):
                steps += [_test(f"/{section}", present), _add(f"/{section}", dict(changes))]
                continue
            for key, value in changes.items():
                path = f"/{section}/{key}"
                steps += [_test(path, present.get(key)), _add(path, value)]
        return steps

    def whole(self, fresh: Json) -> Json:
        """The object with the change, refused where anything else was written since `cr` was read."""
        body = dict(fresh)
        for section, changes in self.as_merge_patch().items():
            body[section] = {**(fresh.get(section) or {}), **changes}
        return body


class ObjectWriter:
    """Reads and writes of one and the same object, identified by its uid."""

    def __init__(
        self, cluster: ObjectApi, clock: Clock, on_written: OnOwnWrite = lambda *_: None
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._on_written = on_written

    async def write(self, gvk: Gvk, cr: Json, attempt: Callable[[Json], Awaitable[Json]]) -> Json:
        """Call `attempt` with `cr`, and with a fresh one after each conflict."""
        for number in range(ATTEMPTS):
            try:
                return await attempt(cr)
            except ConflictError:
                if number == ATTEMPTS - 1:
                    raise
            if number > 0:
                pause_s = FIRST_RETRY_PAUSE_S * 2.0 ** (number - 1)
                await self._clock.sleep(min(pause_s, LONGEST_RETRY_PAUSE_S))
            cr = await self.read_again(gvk, cr)
        raise AssertionError("the last attempt returns or raises")

    async def patch(
        self,
        gvk: Gvk,
        cr: Json,
        changes: Mapping[str, Mapping[str, Any]],
        *,
        subresource: str = "",
    ) -> Json:
        """Change keys of `cr`'s sections, if what the change was computed from is as we know it."""
        write = _Write(gvk, cr, changes, subresource)
        try:
            written = await self._cluster.merge_patch(
                *write.place, write.as_merge_patch(), subresource=subresource
            )
        except ConflictError as lost:
            if not cr["metadata"].get("generation"):
                raise
            return await self._patch_in_steps(write, lost)
        except ForbiddenError as refusal:
            written = await self._replace(write, refusal)
        metadata = written["metadata"]
        if not metadata.get("generation"):
            version = str(metadata.get("resourceVersion", ""))
            self._on_written(metadata.get("uid", ""), version, write.version)
        return written

    async def read_again(self, gvk: Gvk, cr: Json) -> Json:
        metadata = cr["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        try:
            fresh = await self._cluster.get(gvk, namespace, name)
        except NotFoundError as error:
            raise VanishedError(f"{gvk.kind} `{namespace}/{name}` is gone") from error
        if fresh["metadata"].get("uid") != metadata.get("uid"):
            raise VanishedError(f"{gvk.kind} `{namespace}/{name}` was replaced by another one")
        return fresh

    async def _patch_in_steps(self, write: _Write, lost: ConflictError) -> Json:
        try:
            return await self._cluster.json_patch(
                *write.place, write.as_json_patch(), subresource=write.subresource
            )
        except UnprocessableError:
            raise lost from None

    async def _replace(self, write: _Write, refusal: ForbiddenError) -> Json:
        # Read again: the caller's copy may have been changed for a play.
        fresh = await self.read_again(write.gvk, write.cr)
        try:
            return await self._cluster.replace(
                write.gvk, write.whole(fresh), subresource=write.subresource
            )
        except ForbiddenError:
            raise refusal from None


def _test(path: str, value: Any) -> Json:
    return {"op": "test", "path": path, "value": value}


def _add(path: str, value: Any) -> Json:
    return {"op": "add", "path": path, "value": value}
