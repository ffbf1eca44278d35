"""The running operator with its proxy, and scenes on it: what every case gets.

Cases run side by side, each in a namespace of its own, on one engine. What touches all of them (killing
the engine) or cannot be told apart (requests outside of namespaces) runs alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rolecall.clock import Clock
from rolecall.kube import ApiError, NotFoundError
from rolecall_dev.proving.model import Subject, Told
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.scene import Scene
from rolecall_dev.proving.undisturbed import Undisturbed, compared, live
from rolecall_dev.staging import FaultProxy, Place, Stage, StagedEngine


class Bench:
    def __init__(
        self, stage: Stage, engine: StagedEngine, proxy: FaultProxy, clock: Clock, told: Told
    ) -> None:
        self.stage, self.engine, self.proxy, self.clock, self.told = (
            stage,
            engine,
            proxy,
            clock,
            told,
        )

    @asynccontextmanager
    async def scene(self, subject: Subject) -> AsyncIterator[Scene]:
        """A namespace in which nothing is yet."""
        known = subject.undisturbed
        async with self._scene(subject.sample, known, is_alone=not known.is_confined) as scene:
            yield scene

    @asynccontextmanager
    async def alone(self, subject: Subject) -> AsyncIterator[Scene]:
        """The same for a case that runs alone: what is in nobody's namespace is noted, too."""
        async with self._scene(subject.sample, subject.undisturbed, is_alone=True) as scene:
            yield scene

    async def undisturbed(self, sample: CrSample) -> Undisturbed:
        """What becomes of a sample; for this, too, nothing else may run."""
        lives = []
        for _ in range(2):
            async with self._scene(sample, None, is_alone=True) as scene:
                lives.append(await live(scene))
                if not lives[-1].is_confined:
                    await _remove_wide(scene)
        return compared(lives)

    @asynccontextmanager
    async def _scene(
        self, sample: CrSample, known: Undisturbed | None, *, is_alone: bool
    ) -> AsyncIterator[Scene]:
        client = self.stage.client
        resource = await client.resource_for(sample.gvk)
        kinds = (known.kinds, known.wide_kinds) if known else ((), ())
        namespace = await self.stage.new_namespace()
        place = Place(sample.gvk, namespace if resource.namespaced else "", sample.name, *kinds)
        traffic = self.proxy.follow(namespace)
        scene = Scene(client, self.engine, self.clock, sample, place, traffic)
        if place.wide_kinds:
            there = frozenset(str(obj["metadata"]["uid"]) for obj in await scene.objects())
            scene.place = Place(place.gvk, place.namespace, place.name, *kinds, there)
        if is_alone:
            self.proxy.alone = traffic
        try:
            await scene.prepare()
            yield scene
        finally:
            traffic.release()
            if known is not None and not known.is_confined:
                await _remove_wide(scene)
            if is_alone:
                self.proxy.alone = None
            self.proxy.unfollow(namespace)
            # First, so that nothing is repaired while the namespace takes it away.
            with suppress(ApiError):
                await scene.delete()
            await self.stage.remove_namespace(namespace)


async def _remove_wide(scene: Scene) -> None:
    """Remove what no namespace takes with it."""
    with suppress(NotFoundError):
        await scene.delete()
        await scene.wait_until_gone()
    for obj in await scene.objects():
        metadata = obj["metadata"]
        if not metadata.get("namespace"):
            with contextlib.suppress(NotFoundError, ApiError):
                gvk = next(
                    each
                    for each in (scene.place.gvk, *scene.place.wide_kinds)
                    if (each.api_version, each.kind) == (obj["apiVersion"], obj["kind"])
                )
                await scene.client.merge_patch(
                    gvk, "", metadata["name"], {"metadata": {"finalizers": None}}
                )
                await scene.client.delete(gvk, "", metadata["name"])
