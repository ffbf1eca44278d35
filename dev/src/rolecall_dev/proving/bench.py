"""The running operator with its proxy, and CRs under test on it: what every case gets.

Cases run side by side, each in a namespace of its own, on one engine. What touches all of them (killing
the engine) or cannot be distinguished (requests outside of namespaces) runs alone.

Whether a sample's requests can be distinguished is not known before it has lived, and to let each live
alone takes seconds of waiting for each. So at first all live side by side. Where any request came that
is in no sample's namespace, what it made is removed, and those that may have sent it live again, alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from rolecall.clock import Clock
from rolecall.kube import ApiError, NotFoundError
from rolecall_dev.proving.model import Reported, Subject
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.side_by_side import side_by_side
from rolecall_dev.proving.tested_cr import TestedCr
from rolecall_dev.proving.undisturbed import Life, Undisturbed, compared, live
from rolecall_dev.staging import FaultProxy, Place, Traffic, TrialCluster, TrialEngine

_LIVES = 2


class Bench:
    def __init__(
        self,
        trial_cluster: TrialCluster,
        engine: TrialEngine,
        proxy: FaultProxy,
        clock: Clock,
        reported: Reported,
    ) -> None:
        self.trial_cluster, self.engine, self.proxy, self.clock, self.reported = (
            trial_cluster,
            engine,
            proxy,
            clock,
            reported,
        )

    @asynccontextmanager
    async def tested(self, subject: Subject) -> AsyncIterator[TestedCr]:
        """A namespace in which nothing is yet."""
        known = subject.undisturbed
        async with self._tested(subject.sample, known, is_alone=not known.is_confined) as tested:
            yield tested

    @asynccontextmanager
    async def alone(self, subject: Subject) -> AsyncIterator[TestedCr]:
        """The same for a case that runs alone: requests outside of its namespace count, too."""
        async with self._tested(subject.sample, subject.undisturbed, is_alone=True) as tested:
            yield tested

    async def undisturbed(
        self, samples: Sequence[CrSample], on_known: Callable[[CrSample, Undisturbed], None]
    ) -> None:
        """What becomes of each sample; said of each as soon as it is known."""
        alone = await self._in_company(samples, on_known)
        for sample in alone:
            lives = []
            for _ in range(_LIVES):
                async with self._tested(sample, None, is_alone=True) as tested:
                    lives.append(await live(tested))
                    if not lives[-1].is_confined:
                        await _remove_wide(tested)
            on_known(sample, compared(lives))

    async def _in_company(
        self, samples: Sequence[CrSample], on_known: Callable[[CrSample, Undisturbed], None]
    ) -> list[CrSample]:
        """Let them live side by side; those are left of which nothing is known by that."""
        lives: dict[int, list[Life]] = {number: [] for number in range(len(samples))}
        left = set()

        async def live_once(number: int) -> None:
            sample = samples[number]
            resource = await self.trial_cluster.client.resource_for(sample.gvk)
            if not resource.namespaced or number in left:
                left.add(number)
                return
            async with self._tested(sample, None, is_alone=False) as tested:
                lives[number].append(await live(tested))

        outside = Traffic("")
        self.proxy.alone = outside
        try:
            await side_by_side([*lives] * _LIVES, live_once)
        finally:
            self.proxy.alone = None
        is_mixed = any(each.info.is_resource for each in outside.of_plays)
        for number, of_sample in lives.items():
            if is_mixed and not all(life.stays_inside for life in of_sample):
                left.add(number)
            if number not in left:
                on_known(samples[number], compared(of_sample))
        await self._remove_made(outside)
        return [samples[number] for number in sorted(left)]

    async def _remove_made(self, outside: Traffic) -> None:
        """Remove what came to be outside of all namespaces of cases."""
        client = self.trial_cluster.client
        for seen in outside.effects:
            info = seen.info
            name = info.name or seen.body_name
            resource = await client.discovery.by_plural(info.group, info.version, info.resource)
            if resource is None or not name or not seen.has_created:
                continue
            with suppress(ApiError):
                no_finalizers = {"metadata": {"finalizers": None}}
                await client.merge_patch(resource.gvk, info.namespace, name, no_finalizers)
                await client.delete(resource.gvk, info.namespace, name)

    @asynccontextmanager
    async def _tested(
        self, sample: CrSample, known: Undisturbed | None, *, is_alone: bool
    ) -> AsyncIterator[TestedCr]:
        client = self.trial_cluster.client
        resource = await client.resource_for(sample.gvk)
        kinds = (known.kinds, known.wide_kinds) if known else ((), ())
        namespace = await self.trial_cluster.new_namespace()
        place = Place(sample.gvk, namespace if resource.namespaced else "", sample.name, *kinds)
        traffic = self.proxy.follow(namespace)
        tested = TestedCr(client, self.engine, self.clock, sample, place, traffic)
        tested.allow(known.life_s if known else 0.0)
        if place.wide_kinds:
            there = frozenset(str(obj["metadata"]["uid"]) for obj in await tested.objects())
            tested.place = Place(place.gvk, place.namespace, place.name, *kinds, there)
        if is_alone:
            self.proxy.alone = traffic
        try:
            await tested.prepare()
            yield tested
        finally:
            traffic.release()
            if known is not None and not known.is_confined:
                await _remove_wide(tested)
            if is_alone:
                self.proxy.alone = None
            self.proxy.unfollow(namespace)
            # First, so that nothing is repaired while the namespace takes it away.
            with suppress(ApiError):
                await tested.delete()
            await self.trial_cluster.remove_namespace(namespace)


async def _remove_wide(tested: TestedCr) -> None:
    """Remove what no namespace takes with it, and CRs that the next case would see meanwhile."""
    with suppress(NotFoundError):
        await tested.delete()
        await tested.wait_until_gone()
    if tested.namespace:
        for cr in await tested.client.list_all(tested.place.gvk, tested.namespace):
            other = tested.called(cr["metadata"]["name"])
            with suppress(NotFoundError):
                await other.delete()
                await other.wait_until_gone()
    for obj in await tested.objects():
        metadata = obj["metadata"]
        if not metadata.get("namespace"):
            with contextlib.suppress(NotFoundError, ApiError):
                gvk = next(
                    each
                    for each in (tested.place.gvk, *tested.place.wide_kinds)
                    if (each.api_version, each.kind) == (obj["apiVersion"], obj["kind"])
                )
                await tested.client.merge_patch(
                    gvk, "", metadata["name"], {"metadata": {"finalizers": None}}
                )
                await tested.client.delete(gvk, "", metadata["name"])
