"""Holds plans to what runs then do: the same role, planned and run, on a real API server.

`planned` makes the plan and shows that nothing was written by it; `Held.run` makes the run, and `check`
compares, object by object: what the plan named is as it said, and nothing changed that it did not name.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.extensions.record.extension import RunRecorder
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, Credentials, NoSuchKindError, NotFoundError
from rolecall.plan import PlannedRun, Planner, PlanRequest
from rolecall.proxy import Proxy, RunFollower
from rolecall.reconcile import BegunRun
from rolecall.runner import RunResult
from rolecall.settings import ProxySettings
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster
from tests.apiserver.plan.comparison import (
    Place,
    describe,
    differences_from,
    is_of_controller,
    versions,
)
from tests.fixtures.crds import CRD, crd_for
from tests.fixtures.eventually import eventually_async
from tests.play.fidelity.harness import COLLECTIONS
from tests.play.warm.runs import Tasks, Workshop, request_for, workshop

CASE = Gvk("plan.example.com", "v1", "Case")
CONFIG_MAP, SECRET = Gvk("", "v1", "ConfigMap"), Gvk("", "v1", "Secret")
SERVICE, NAMESPACE = Gvk("", "v1", "Service"), Gvk("", "v1", "Namespace")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")
ROLE = Gvk("rbac.authorization.k8s.io", "v1", "Role")
SERVICE_ACCOUNT = Gvk("", "v1", "ServiceAccount")
JOB = Gvk("batch", "v1", "Job")
CLAIM, POD = Gvk("", "v1", "PersistentVolumeClaim"), Gvk("", "v1", "Pod")
BUDGET = Gvk("policy", "v1", "PodDisruptionBudget")
STATEFUL_SET, CRON_JOB = Gvk("apps", "v1", "StatefulSet"), Gvk("batch", "v1", "CronJob")
_OF_PODS = (DEPLOYMENT, STATEFUL_SET, JOB, CRON_JOB, POD, BUDGET)
_KINDS = (CONFIG_MAP, SECRET, SERVICE, ROLE, SERVICE_ACCOUNT, CLAIM, *_OF_PODS)
# Made by controllers in every namespace.
_FOREIGN_NAMES = ("kube-root-ca.crt", "default")

_numbers = itertools.count(1)


@dataclass
class IgnoredDependents:
    """Follows no dependents."""

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        """A dependent was seen."""

    def note_asked(self, *_: object) -> None:
        """A run asked for an object."""

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """The play wrote it."""


@dataclass
class Held:
    """A plan, what was there before, and what a run made of it."""

    bench: PlanBench
    request: PlanRequest
    plan: PlannedRun
    before: dict[Place, Json]
    namespaces: tuple[str, ...]

    async def run(self) -> RunResult:
        """The same, for real."""
        bench, request = self.bench, self.request
        issued = bench.proxy.issue_access("real", request.cr, request.watch)
        async with issued as access:
            return await bench.shop.run(
                request.watch.play.path,
                watch=request.watch,
                cr=request.cr,
                kubeconfig=access.kubeconfig,
                is_finalizer=request.is_finalizer,
            )

    async def check(self) -> None:
        """Run it, and hold the plan to what is there then."""
        result = await self.run()
        assert result.succeeded, result
        after = await self.bench.snapshot(*self.namespaces)
        differences = differences_from(self.plan, self.before, after)
        assert not differences, "\n".join([*differences, describe(self.plan)])


@dataclass
class PlanBench:
    cluster: Cluster
    client: Client
    proxy: Proxy
    planner: Planner
    shop: Workshop
    namespace: str
    programs: Path  # on the path of plays

    async def cr(self, name: str = "one", **spec: Any) -> Json:
        """A CR in the cluster."""
        body = {
            "apiVersion": CASE.api_version,
            "kind": CASE.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }
        try:
            return await self.client.create(CASE, body)
        except AlreadyExistsError:
            return await self.client.get(CASE, self.namespace, name)

    async def planned(
        self, tasks: Tasks, *, cr: Json | None = None, namespaces: tuple[str, ...] = (), **more: Any
    ) -> Held:
        """Plan a role of these tasks; nothing may be written by that."""
        role = self.shop.role(f"role{next(_numbers)}", tasks)
        watch = Watch(gvk=CASE, play=Play(role, is_role=True))
        return await self.planned_watch(watch, cr or await self.cr(), namespaces, **more)

    async def planned_watch(
        self, watch: Watch, cr: Json, namespaces: tuple[str, ...] = (), **more: Any
    ) -> Held:
        request = PlanRequest("planned", cr, watch, **more)
        places = (self.namespace, *namespaces)
        before = await self.snapshot(*places)
        plan = await self.planner.plan(request)
        after = await self.snapshot(*places)
        assert versions(after) == versions(before), "the plan wrote something"
        return Held(self, request, plan, before, places)

    async def snapshot(self, *namespaces: str) -> dict[Place, Json]:
        """All objects that tests are about."""
        found: dict[Place, Json] = {}
        for namespace in namespaces:
            with suppress(NotFoundError):
                there = await self.client.get(NAMESPACE, "", namespace)
                found["Namespace", "", namespace] = there
            for kind in _KINDS:
                for item in await self.client.list_all(kind, namespace):
                    name = item["metadata"]["name"]
                    if name not in _FOREIGN_NAMES and not is_of_controller(item):
                        found[kind.kind, namespace, name] = {"kind": kind.kind, **item}
        return found

    async def cluster_apply(self, body: Json) -> None:
        """Have an object there as it says, whatever was there."""
        self.cluster.kubectl(
            "apply",
            "--server-side",
            "--force-conflicts",
            "--field-manager=admin",
            "-f",
            "-",
            stdin=json.dumps(body),
        )

    async def clear(self) -> None:
        """Delete all that tests are about."""
        for kind, namespace, name in await self.snapshot(self.namespace):
            gvk = next((each for each in _KINDS if each.kind == kind), None)
            if gvk is not None:
                await self.client.delete(gvk, namespace, name)

    async def exists(self, gvk: Gvk, name: str, namespace: str = "") -> bool:
        try:
            await self.client.get(gvk, namespace or self.namespace, name)
        except NotFoundError:
            return False
        return True


@asynccontextmanager
async def plan_bench(
    cluster: Cluster, namespace: str, folder: Path, **more: Any
) -> AsyncIterator[PlanBench]:
    """A planner and a runner of the same warm host, before a real API server."""
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    kubectl = Path(cluster.record.programs["kubectl"]).parent
    programs = folder / "programs"
    programs.mkdir()
    environment = {
        "PATH": f"{programs}:{kubectl}:/usr/bin:/bin",
        **more.pop("environment", {}),
    }
    async with Client(credentials) as client:
        with suppress(AlreadyExistsError):
            await client.create(CRD, crd_for(CASE))

        async def lists() -> None:
            client.discovery.forget(CASE.group)
            await client.list_all(CASE)

        await eventually_async(lists, lambda _: True, ignoring=(NoSuchKindError, NotFoundError))
        settings: dict[str, Any] = {
            "collections_path": str(COLLECTIONS),
            "environment": environment,
            **more,
        }
        async with workshop(folder, **settings) as shop:
            proxy = Proxy(
                ProxySettings(port=0), client, dependents=IgnoredDependents(), follow=recorded
            )
            await proxy.start()
            try:
                planner = Planner(shop.runner, proxy.issue_access_to_world, client, SystemClock())
                yield PlanBench(cluster, client, proxy, planner, shop, namespace, programs)
            finally:
                await proxy.stop()


def recorded(run: BegunRun) -> RunFollower:
    return RunRecorder(run, SystemClock())


def k8s(definition: Json | str, **options: Any) -> Json:
    """A task that writes an object."""
    return {"kubernetes.core.k8s": {"definition": definition, **options}}


def config_map(name: str, namespace: str, labels: Json | None = None, **data: str) -> Json:
    metadata: Json = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def case_request(role: Path, folder: Path) -> Any:
    """A request of the ordinary way, for its watch."""
    return request_for(role, "any", folder)
