"""Events as the API server keeps them."""

from __future__ import annotations

import asyncio
import logging

import pytest

from rolecall.gvk import Gvk
from rolecall.reactor import ApiEventRecorder
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import CONFIG_MAP, body, client_for
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

EVENT = Gvk("", "v1", "Event")


async def test_event_is_shown_for_its_cr_and_counted(cluster: Cluster, namespace: str) -> None:
    async with client_for(cluster.kubeconfig) as client:
        cr = await client.create(CONFIG_MAP, body(CONFIG_MAP, namespace, "a"))
        events = ApiEventRecorder(client, instance="here")
        posting = asyncio.create_task(events.run())

        async def counts() -> list[int]:
            return [event["count"] for event in await client.list_all(EVENT, namespace)]

        for expected in ([1], [2]):
            events.record(cr, kind="Warning", reason="Failed", message="task `x` failed")
            await eventually_async(counts, expected.__eq__)
        posting.cancel()
        await asyncio.gather(posting, return_exceptions=True)
    said = await asyncio.to_thread(
        cluster.kubectl, "describe", "configmap", "a", "--namespace", namespace
    )
    assert "task `x` failed" in said
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_missing_right_to_post_is_named_once(
    cluster: Cluster,
    namespace: str,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with client_for(service_account_kubeconfig()) as client:
        events = ApiEventRecorder(client, instance="here")
        cr = body(CONFIG_MAP, namespace, "a")
        with caplog.at_level(logging.WARNING, logger="rolecall.reactor.events"):
            posting = asyncio.create_task(events.run())
            for number in range(3):
                events.record(cr, kind="Normal", reason="Ran", message=f"run {number}")
            await eventually_async(lambda: caplog.records)
            posting.cancel()
            await asyncio.gather(posting, return_exceptions=True)
    (entry,) = caplog.records
    rule = '{apiGroups: [""], resources: [events], verbs: [create]}'
    assert entry.__dict__["fields"]["rule"] == rule
