"""Holds a CR until its finalizer play succeeded, and lets it go then, and only then.

Promises: our finalizer is on the CR before its first run; it is taken off only by `release`; foreign
finalizers are never touched; and none of this loses a race, since every patch names what it was
computed from (see `status.object_writer`).
"""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.reconcile.annotations import is_deleted
from rolecall.status import ObjectWriter, VanishedError
from rolecall.watches import Watch


class Finalizers:
    def __init__(self, objects: ObjectWriter) -> None:
        self._objects = objects

    async def ensure(self, watch: Watch, cr: Json) -> Json:
        """Add the watch's finalizer where it belongs; returns the CR as it is then."""

        async def attempt(known: Json) -> Json:
            name = finalizer_name(watch)
            if not name or is_deleted(known) or name in _finalizers(known):
                return known
            wanted = [*_finalizers(known), name]
            return await self._objects.patch(watch.gvk, known, {"metadata": {"finalizers": wanted}})

        return await self._objects.write(watch.gvk, cr, attempt)

    async def release(self, watch: Watch, cr: Json) -> Json | None:
        """Take it off after a successful finalizer run; None where nothing holds the CR any more."""

        async def attempt(known: Json) -> Json:
            name = finalizer_name(watch)
            if name not in _finalizers(known):
                return known
            wanted = [other for other in _finalizers(known) if other != name]
            return await self._objects.patch(watch.gvk, known, {"metadata": {"finalizers": wanted}})

        try:
            left = await self._objects.write(watch.gvk, cr, attempt)
        except VanishedError:
            return None
        return left if _finalizers(left) else None


def finalizer_name(watch: Watch) -> str:
    """The watch's finalizer; empty where it has none."""
    return watch.finalizer.name if watch.finalizer else ""


def is_finalizer_run(watch: Watch, cr: Json) -> bool:
    return is_deleted(cr) and finalizer_name(watch) in _finalizers(cr)


def _finalizers(cr: Json) -> list[str]:
    return list(cr["metadata"].get("finalizers") or ())
