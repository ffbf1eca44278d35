"""An engine's streams, queue and turns on a real API server; only its runs are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rolecall.clock import SystemClock
from rolecall.election import Election, OwnedKeys
from rolecall.kube import Client, Credentials
from rolecall.reactor import DependentInformers, NewestCrs, Reactor
from rolecall.reconcile import RunDefaults
from rolecall.settings import ReactorSettings
from rolecall.workqueue import Queue
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reconcile.crds import STORY
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import Roll
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting, hands_for


@dataclass
class Loop:
    """What is at work, and what its client asked for about the kind."""

    setting: Setting
    queue: Queue
    dependents: DependentInformers
    shop: Shop  # another client's
    calls: list[str]

    async def until_done(self, name: str = "a") -> list[str]:
        """Wait until the newest generation had its turn; the calls that it took."""

        async def is_done() -> bool:
            cr = await self.shop.get(name)
            status = cr.get("status") or {}
            is_seen = status.get("observedGeneration") == cr["metadata"]["generation"]
            # A turn has its answer, and counts the call, after others can read what it wrote.
            return is_seen and not self.queue.in_hand()

        await eventually_async(is_done)
        calls, self.calls[:] = list(self.calls), []
        return calls

    @property
    def causes(self) -> list[str]:
        return [request.cause for request in self.setting.runner.requests]


@asynccontextmanager
async def whole_loop(
    cluster: Cluster, namespace: str, others: Client, *, dependents_delay_s: float = 0.0
) -> AsyncIterator[Loop]:
    """For the CRs of one namespace, which `others` writes."""
    calls: list[str] = []
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})

    def on_call(verb: str, resource: str, *_: object) -> None:
        if resource.startswith(STORY.kind.lower()):  # discovery has no part in this
            calls.append(verb)

    async with Client(credentials, on_call=on_call) as own:
        defaults = RunDefaults(dependents_delay_s=dependents_delay_s)
        shop, watch = Shop(own, STORY, namespace), watch_of(STORY)
        setting = Setting(shop, watch, SystemClock(), defaults=defaults)
        queue, workers = hands_for(setting)
        sink = OwnedKeys(queue, Election(), on_edited=setting.reconciler.on_edited)
        settings = ReactorSettings((namespace,))
        setting.newest = newest = NewestCrs()
        reactor = Reactor([watch], own, sink, Roll(), newest=newest, settings=settings)
        dependents = DependentInformers([watch], own, queue, settings=settings)
        at_work = [asyncio.create_task(reactor.run()), asyncio.create_task(workers.run(2))]
        await eventually_async(lambda: reactor.is_synced)
        calls.clear()
        yield Loop(setting, queue, dependents, Shop(others, STORY, namespace), calls)
        await workers.drain(0.0)
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
        await dependents.close()
