"""Makes the plans of some CRs: one proxy and one warm host for all, some of them side by side."""

from __future__ import annotations

import asyncio
import math
import os
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from rolecall.clock import SystemClock
from rolecall.extending import CommandView, extension_classes, followed_by, foreseen_by
from rolecall.kube import Client, Credentials
from rolecall.plan import PlannedRun, Planner, PlanRequest
from rolecall.proxy import Proxy
from rolecall.runner import SpecKeys, create_runner, folder_of_command, folder_of_engine, terms_of
from rolecall.settings import ProxySettings, RunnerSettings, Settings, read_capacity
from rolecall_dev.cli.plan_crs import AskedCrs, SkippedCr
from rolecall_dev.cli.role_access import Nobody

OnPlan = Callable[[PlannedRun | SkippedCr], None]


async def made_plans(asked: AskedCrs, settings: Settings, told: OnPlan) -> None:
    """Make them; each is told in the order in which the CRs come."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(Credentials.load(os.environ)))
        asked_for = [each async for each in asked.read(client)]
        planner = await _planner(client, settings, asked_for, stack)
        slots = asyncio.Semaphore(max(1, math.ceil(read_capacity().cpus)))

        async def made(each: PlanRequest | SkippedCr) -> PlannedRun | SkippedCr:
            if isinstance(each, SkippedCr):
                return each
            async with slots:
                return await planner.plan(replace(each, run_id=uuid.uuid4().hex[:12]))

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(made(each)) for each in asked_for]
            for task in tasks:
                told(await task)


async def _planner(
    client: Client,
    settings: Settings,
    asked_for: list[PlanRequest | SkippedCr],
    stack: AsyncExitStack,
) -> Planner:
    folder = stack.enter_context(folder_of_engine())
    command = CommandView(client, settings, os.environ)
    follow = followed_by(extension_classes(), command)
    proxy = Proxy(ProxySettings(port=0, folder=folder), client, dependents=Nobody(), follow=follow)
    await proxy.start()
    stack.push_async_callback(proxy.stop)
    root = stack.enter_context(folder_of_command())
    runner = create_runner(_warm(replace(settings.runner, root=root)))
    stack.push_async_callback(runner.close)
    watches = [each.watch for each in asked_for if isinstance(each, PlanRequest)]
    if watches:
        await runner.warm_up([terms_of(each) for each in watches[:1]])
    found = [each.foresees(command) for each in extension_classes()]
    foresee = partial(foreseen_by, [each for each in found if each is not None])
    clock = SystemClock()
    return Planner(runner, proxy, client, clock, foresee, SpecKeys(client, clock))


def _warm(settings: RunnerSettings) -> RunnerSettings:
    """A plan is a warm run or none."""
    return replace(settings, way="warm")
