"""Makes the plans of some CRs: one proxy and one warm host for all, some of them side by side."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError, InputError
from rolecall.extending import CommandView, extension_classes, followed_by, foreseen_by
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, NoSuchKindError, NotFoundError
from rolecall.plan import PlannedRun, Planner, PlanRequest
from rolecall.proxy import Proxy
from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.runner import SpecKeys, create_runner, folder_of_command, folder_of_engine, terms_of
from rolecall.settings import ProxySettings, RunnerSettings, Settings, read_capacity
from rolecall.watches import Watch
from rolecall_dev.cli.crs import (
    FoundCr,
    as_the_operator_sees,
    current_namespace,
    is_ending,
    parse_named,
    read_cr,
    read_with,
)
from rolecall_dev.cli.role_access import IgnoredDependents


# Which CRs a plan is about, as the operator would see them: of the cluster, of files, or all.
# A CR of a file is shown to the API server first, as a dry run, so that the plan begins with what
# would be stored: defaults, a uid, and the refusal of what its schema does not take.
@dataclass(frozen=True, slots=True)
class SkippedCr:
    """A CR that no run would follow for."""

    title: str
    why: str


@dataclass(frozen=True, slots=True)
class AskedCrs:
    environment: Mapping[str, str]
    watches: Sequence[Watch]
    named: Sequence[str]
    files: Sequence[str]
    is_all: bool
    namespace: str | None
    is_finalizer: bool

    async def read(self, client: Client) -> AsyncIterator[PlanRequest | SkippedCr]:
        """Each of them; raises `InputError` for one that was named and is not there."""
        if self.is_all:
            for watch in self.watches:
                async for request in self._all_of(client, watch):
                    yield request
            return
        namespace = self._namespace()
        for text in self.named:
            found = await read_with(client, parse_named(text, self.watches), namespace)
            yield self._request(found)
        for file in self.files:
            cr, watch = read_cr(file, self.watches)
            yield await self._of_file(client, cr, watch, namespace)

    async def _all_of(self, client: Client, watch: Watch) -> AsyncIterator[PlanRequest | SkippedCr]:
        try:
            crs = await client.list_all(watch.gvk, self.namespace or "")
        except NoSuchKindError:
            yield SkippedCr(watch.gvk.kind, "the cluster does not have this kind")
            return
        for cr in crs:
            whole = {"apiVersion": watch.gvk.api_version, "kind": watch.gvk.kind, **cr}
            metadata = whole["metadata"]
            if not watch.selector.selects(metadata.get("labels") or {}):
                continue
            found = FoundCr(whole, watch)
            if why := _why_not_run(found):
                yield SkippedCr(_title(whole), why)
            else:
                yield self._request(found)

    def _request(self, found: FoundCr, *, is_supposed: bool = False) -> PlanRequest:
        watch = found.watch
        is_finalizer = self.is_finalizer or is_ending(found)
        cr = as_the_operator_sees(found.cr, watch, is_finalizer=is_finalizer)
        is_pretended = is_finalizer and not found.cr["metadata"].get("deletionTimestamp")
        return PlanRequest(
            run_id="",
            cr=cr,
            watch=replace(watch, runner=None),
            is_finalizer=is_finalizer,
            is_supposed=is_supposed or is_pretended,
        )

    async def _of_file(self, client: Client, cr: Json, watch: Watch, namespace: str) -> PlanRequest:
        resource = await client.resource_for(watch.gvk)
        metadata = dict(cr["metadata"])
        if resource.namespaced:
            metadata.setdefault("namespace", namespace)
        wanted = {**cr, "metadata": metadata}
        place = metadata.get("namespace", "") if resource.namespaced else ""
        try:
            await client.get(watch.gvk, place, metadata["name"])
        except NotFoundError:
            stored = await _tried_create(client, wanted, watch)
        else:
            patch = {"spec": wanted.get("spec") or {}}
            stored = await client.merge_patch(
                watch.gvk, place, metadata["name"], patch, is_trial=True
            )
        return self._request(FoundCr(stored, watch), is_supposed=True)

    def _namespace(self) -> str:
        return current_namespace(self.environment) if self.namespace is None else self.namespace


async def _tried_create(client: Client, wanted: Json, watch: Watch) -> Json:
    served = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"}
    metadata = {key: value for key, value in wanted["metadata"].items() if key not in served}
    try:
        return await client.create(watch.gvk, {**wanted, "metadata": metadata}, is_trial=True)
    except ClusterError as error:
        raise InputError(
            f"{_title(wanted)} would not be stored: {error.message}", hint=error.hint
        ) from error


def _why_not_run(found: FoundCr) -> str:
    metadata = found.cr["metadata"]
    annotations = metadata.get("annotations") or {}
    if str(annotations.get(PAUSED_ANNOTATION, "")).lower() == "true":
        return "it is paused, so nothing runs for it"
    if metadata.get("deletionTimestamp") and not is_ending(found):
        return "it is being deleted, and nothing runs for that"
    return ""


def _title(cr: Json) -> str:
    metadata = cr["metadata"]
    place = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
    return f"{cr['kind']} {place}"


OnPlan = Callable[[PlannedRun | SkippedCr], None]


async def made_plans(asked: AskedCrs, settings: Settings, on_plan: OnPlan) -> None:
    """Make them concurrently; calls `on_plan` for each in the order of the CRs."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(Credentials.load(asked.environment)))
        asked_for = [each async for each in asked.read(client)]
        command = CommandView(client, settings, asked.environment)
        planner = await _planner(command, asked_for, stack)
        slots = asyncio.Semaphore(max(1, math.ceil(read_capacity().cpus)))

        async def made(each: PlanRequest | SkippedCr) -> PlannedRun | SkippedCr:
            if isinstance(each, SkippedCr):
                return each
            async with slots:
                return await planner.plan(replace(each, run_id=uuid.uuid4().hex[:12]))

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(made(each)) for each in asked_for]
            for task in tasks:
                on_plan(await task)


async def _planner(
    command: CommandView, asked_for: list[PlanRequest | SkippedCr], stack: AsyncExitStack
) -> Planner:
    folder = stack.enter_context(folder_of_engine())
    client, settings = command.client, command.settings
    follow = followed_by(extension_classes(), command)
    proxy = Proxy(
        ProxySettings(port=0, folder=folder), client, dependents=IgnoredDependents(), follow=follow
    )
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
    return Planner(
        runner, proxy.issue_access_to_world, client, clock, foresee, SpecKeys(client, clock)
    )


def _warm(settings: RunnerSettings) -> RunnerSettings:
    """A plan is a warm run or none."""
    return replace(settings, way="warm")
