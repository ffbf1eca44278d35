"""Holds plans to what runs then do: the same role, planned and run, on a real API server.

`planned` makes the plan and shows that nothing was written by it; `Held.run` makes the run, and `check`
compares, object by object: what the plan named is as it said, and nothing changed that it did not name.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, Credentials, NoSuchKindError, NotFoundError
from rolecall.plan import (
    Certainty,
    PlannedChange,
    PlannedObject,
    PlannedRun,
    Planner,
    PlanRequest,
    compared,
)
from rolecall.proxy import Proxy
from rolecall.runner import RunResult
from rolecall.settings import ProxySettings
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster
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
_KINDS = (CONFIG_MAP, SECRET, SERVICE, DEPLOYMENT, ROLE, SERVICE_ACCOUNT, JOB, CLAIM, POD, BUDGET)
# Made by controllers in every namespace, or written by them when they get to it.
_FOREIGN_NAMES = ("kube-root-ca.crt", "default")
_LATE_ANNOTATIONS = re.compile(r"(deployment|pv|volume(\.beta)?)\.kubernetes\.io/.*")
_LATE_FIELDS = ("nodeName", "volumeName")
_MADE_UP_VOLUME = re.compile(r"kube-api-access-\w{5}")

Place = tuple[str, str, str]  # kind, namespace, name
_numbers = itertools.count(1)


@dataclass
class Nobody:
    """Follows no dependents."""

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        """A dependent was seen."""

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
                modules_kubeconfig=access.modules_kubeconfig,
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
    spec: Json = field(default_factory=dict)

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
                    if name not in _FOREIGN_NAMES and not _is_of_controller(item):
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
    environment = {"PATH": f"{kubectl}:/usr/bin:/bin"}
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
            proxy = Proxy(ProxySettings(port=0), client, dependents=Nobody())
            await proxy.start()
            try:
                planner = Planner(shop.runner, proxy, client, SystemClock())
                yield PlanBench(cluster, client, proxy, planner, shop, namespace)
            finally:
                await proxy.stop()


def versions(snapshot: Mapping[Place, Json]) -> dict[Place, str]:
    """What the API server counts up with each write; controllers write to kinds with a status."""
    return {
        place: str(found["metadata"].get("generation") or found["metadata"]["resourceVersion"])
        for place, found in snapshot.items()
    }


def differences_from(
    plan: PlannedRun, before: Mapping[Place, Json], after: Mapping[Place, Json]
) -> list[str]:
    """Where the plan was wrong; what it called unknown may be anything."""
    wrong: list[str] = []
    named: set[Place] = set()
    for planned in plan.objects:
        place = (planned.gvk.kind, planned.namespace, planned.name)
        if planned.is_name_made_up:
            place = _like(place, planned, before, after) or place
        named.add(place)
        if planned.certainty is not Certainty.UNKNOWN:
            wrong += _wrong_with(planned, after.get(place))
    for place in [*before, *(place for place in after if place not in before)]:
        old, new = _settled(before.get(place)), _settled(after.get(place))
        if old != new and place not in named and plan.is_sure:
            wrong.append(f"{place} changed, and the plan did not say so: {old} -> {new}")
    return wrong


def describe(plan: PlannedRun) -> str:
    """The plan, for a failed test."""
    lines = [f"plan of {plan.title}, failure: {plan.failure or 'none'}"]
    lines += [
        f"  {planned.change.value} {planned.title} {planned.certainty.value} {planned.why}"
        for planned in plan.objects
    ]
    return "\n".join([*lines, *(f"  note {note}" for note in plan.notes)])


def only(plan: PlannedRun) -> PlannedObject:
    """The one object of a plan."""
    assert len(plan.objects) == 1, describe(plan)
    return plan.objects[0]


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


def _wrong_with(planned: PlannedObject, now: Json | None) -> list[str]:
    if planned.change is PlannedChange.DELETE:
        is_gone = now is None or now["metadata"].get("deletionTimestamp")
        return [] if is_gone else [f"{planned.title} is still there"]
    if now is None:
        return [f"{planned.title} is not there"]
    said, is_so = _settled(planned.after), _settled(now)
    if said == is_so:
        return []
    return [
        f"{planned.title} is\n{json.dumps(is_so, indent=1)}\nand not\n{json.dumps(said, indent=1)}"
    ]


def _is_of_controller(found: Json) -> bool:
    """Of a controller of Kubernetes, which no plan follows."""
    owners = found["metadata"].get("ownerReferences") or ()
    return any(owner["kind"] in ("ReplicaSet", "Job") for owner in owners)


def _like(
    place: Place, planned: PlannedObject, before: Mapping[Place, Json], after: Mapping[Place, Json]
) -> Place | None:
    prefix = str(((planned.after or {}).get("metadata") or {}).get("generateName"))
    new = (other for other in after if other not in before and other[:2] == place[:2])
    return next((other for other in new if other[2].startswith(prefix)), None)


def _settled(found: Json | None) -> Json | None:
    """Without what the API server and controllers make up."""
    if found is None:
        return None
    kept = {key: value for key, value in compared(found).items() if key != "apiVersion"}
    metadata = dict(kept["metadata"])
    if "generateName" in metadata:
        metadata.pop("name")
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if not _LATE_ANNOTATIONS.fullmatch(key)
    }
    whole = {**kept, "metadata": {**metadata, "annotations": annotations}}
    if isinstance(whole.get("spec"), dict):  # of a pod and of a claim, by the scheduler and others
        whole["spec"] = {k: v for k, v in whole["spec"].items() if k not in _LATE_FIELDS}
    made: Json = json.loads(_MADE_UP_VOLUME.sub("kube-api-access", json.dumps(whole)))
    return made
