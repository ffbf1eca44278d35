"""What runs find around them on a real API server, as the engine gives it to them.

Each way has a namespace, a CR and, where a group asks for it, a node of its own, so that both run side
by side. Modules go through the proxy, under the credential of their run; behind it stands an account
that may do everything here but read Secrets. What the API server makes up (ids, versions, times,
addresses) and what controllers write when they get to it is no difference between two runs.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, Credentials, NoSuchKindError, NotFoundError
from rolecall.listening import Address, served
from rolecall.metrics import RoleMetrics, role_metrics_app
from rolecall.proxy import Proxy
from rolecall.runner import RunRequest
from rolecall.runner.warm.proof.groups import CaseGroup
from rolecall.runner.warm.proof.normal import Normal, Words
from rolecall.settings import ProxySettings
from rolecall.watches import Watch
from rolecall_dev.localcluster import Cluster, ClusterAccess, write_kubeconfig
from rolecall_dev.localcluster.programs import MODULES
from tests.fixtures.cluster import grant, unique_name
from tests.fixtures.crds import CRD, crd_for
from tests.fixtures.eventually import eventually_async
from tests.play.fidelity.harness import ReadyRun, Surroundings
from tests.play.fidelity.recorded import ENGINE

CASE = Gvk("test.example.com", "v1", "Case")
NAMESPACE, NODE = Gvk("", "v1", "Namespace"), Gvk("", "v1", "Node")
WORLD = [
    *(Gvk("", "v1", kind) for kind in ("ConfigMap", "Secret", "Service", "Pod", "Event")),
    Gvk("apps", "v1", "Deployment"),
    CASE,
]
RULES = [
    {
        "apiGroups": [""],
        "resources": ["configmaps", "services", "pods", "pods/log", "pods/exec", "pods/eviction"],
        "verbs": ["*"],
    },
    {"apiGroups": ["*"], "resources": ["nodes", "namespaces", "events", "things"], "verbs": ["*"]},
    {
        "apiGroups": ["apps", "apiextensions.k8s.io", CASE.group],
        "resources": ["*"],
        "verbs": ["*"],
    },
]
# Written by controllers when they get to it.
_LATE_KINDS = ("Deployment", "ReplicaSet", "Pod", "Node", "CustomResourceDefinition")
_SERVERS_KEYS = (
    *("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "time"),
    *("clusterIP", "clusterIPs", "deployment.kubernetes.io/revision", "eventTime"),
    *("resource_version", "creation_timestamp", "managed_fields"),  # as the client names them
    *("firstTimestamp", "lastTimestamp", "lastTransitionTime", "Audit-Id", "Date"),
)
_SERVERS_TEXTS = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
    (r"\b10\.\d+\.\d+\.\d+\b", "<address>"),
    (r"(resourceVersion\W{1,5})\d+", r"\1<version>"),
    (r"(Content-Length\W{1,5})\d+", r"\1<length>"),
    (r"\bkube-api-access-\w{5}\b", "kube-api-access-<random>"),
    (r"\bmade-\w{5}\b", "made-<random>"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "<date>"),
    (r"\b(web|waited)-[0-9a-f]{8,10}-\w{5}\b", r"\1-<pod>"),
)


def inputs_of_requests() -> list[Path]:
    """Files that decide what a module's request comes to: of the proxy and of the control plane."""
    rooms = ("proxy", "kube", "record", "metrics")
    ours = [path for room in rooms for path in (ENGINE / room).rglob("*.py")]
    return sorted([Path(__file__), *ours, *MODULES.glob("*/go.mod")])


class ApiServer(Surroundings):
    """A cluster, seen through the proxy."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self._id = unique_name()
        self._stack = AsyncExitStack()
        self._admin: Client
        self.proxy: Proxy
        self._metrics = ""

    async def open(self) -> None:
        """A proxy with an account, and the kind of the CRs."""
        enter = self._stack.enter_async_context
        admin = Credentials.load({"KUBECONFIG": str(self._cluster.kubeconfig)})
        self._admin = await enter(Client(admin))
        engine = Credentials.load({"KUBECONFIG": str(self._account())})
        self.proxy = Proxy(
            ProxySettings(port=0, allows_impersonation=True),
            await enter(Client(engine)),
            dependents=_IgnoredDependents(),
        )
        await self.proxy.start()
        self._stack.push_async_callback(self.proxy.stop)
        metrics = role_metrics_app(RoleMetrics(SystemClock().monotonic))
        port = await enter(served(metrics, Address("127.0.0.1", 0), what="metrics of roles"))
        self._metrics = f"http://127.0.0.1:{port}/metrics"
        with suppress(AlreadyExistsError):
            await self._admin.create(CRD, crd_for(CASE))
        await eventually_async(partial(self._lists, CASE), ignoring=(NoSuchKindError,))

    async def close(self) -> None:
        """All but the cluster, whose other users need not mind what is left."""
        await self._stack.aclose()

    @asynccontextmanager
    async def ready_run(
        self, group: CaseGroup, request: RunRequest, words: Words
    ) -> AsyncIterator[ReadyRun]:
        """A namespace, a CR, perhaps a node, and a credential for this run."""
        place = self._place(group, request.run_id)
        await self._admin.create(NAMESPACE, {"metadata": {"name": place}})
        node = f"node-of-{place}"
        if group.data.get("node"):
            await self._admin.create(NODE, _node(node))
        spec = {**request.cr["spec"], "node": node, "metrics": self._metrics}
        cr = await self.made_case(place, "case", spec)
        watch = Watch(request.terms.gvk, request.terms.play)
        async with self.proxy.issue_access(request.run_id, cr, watch) as access:
            login = _login_in(access.kubeconfig)
            normal = _ServersNormal(
                [
                    (f"{login[0]}:{login[1]}", "<login>"),
                    (login[0], "<user>"),
                    (login[1], "<password>"),
                    (node, "<node>"),
                    (place, "<namespace>"),
                    (str(access.kubeconfig), "<kubeconfig>"),
                    *words,  # parts of the above
                ],
                _SERVERS_KEYS,
                _SERVERS_TEXTS,
            )
            yield ReadyRun(
                replace(
                    request,
                    cr=cr,
                    kubeconfig=access.kubeconfig,
                ),
                normal,
            )
        if group.data.get("node"):
            await self._admin.delete(NODE, "", node)

    async def made_case(self, namespace: str, name: str, spec: Json) -> Json:
        """A CR."""
        own = {"apiVersion": CASE.api_version, "kind": CASE.kind}
        metadata = {"name": name, "namespace": namespace}
        return await self._admin.create(CASE, {**own, "metadata": metadata, "spec": spec})

    async def world(self, group: CaseGroup, way: str, normal: Normal) -> Any:
        """Every object of the namespace, and the node."""
        place = self._place(group, f"run-{way}-0")
        found = {}
        for gvk in WORLD:
            async for page in self._admin.pages(gvk, place):
                for item in page.items:
                    if not _is_controllers(item):
                        found[f"{gvk.kind}/{item['metadata']['name']}"] = item
        if group.data.get("node"):
            node = await self._admin.get(NODE, "", f"node-of-{place}")
            found["node"] = {"kind": "Node", **node}
        return normal.value(
            {name: {"kind": name.split("/")[0], **it} for name, it in found.items()}
        )

    def _place(self, group: CaseGroup, run_id: str) -> str:
        return f"{self._id}-{group.name}-{run_id}"

    async def _lists(self, gvk: Gvk) -> bool:
        try:
            await self._admin.get(gvk, "default", "missing")
        except NotFoundError:
            return True
        return True

    def _account(self) -> Path:
        api, place = self._cluster.api, "/api/v1/namespaces/default/serviceaccounts"
        name = f"{self._id}-engine"
        api.create(place, {"metadata": {"name": name}})
        subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
        grant(self._cluster, "", "ClusterRole", name, (RULES, subject))
        token = api.create(f"{place}/{name}/token", {"spec": {}})["status"]["token"]
        authority = self._cluster.layout.certificates / "ca.crt"
        access = ClusterAccess(self._cluster.url, authority, token=token, namespace="default")
        return write_kubeconfig(self._folder / "engine.kubeconfig", access)


class _ServersNormal(Normal):
    """Leaves out what controllers write late."""

    def value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.get("kind") in _LATE_KINDS and "status" in value:
            value = {**value, "status": "<late>"}
        return super().value(value)


class _IgnoredDependents:
    """Ignores reports about dependents."""

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        pass

    def note_asked(self, *_: object) -> None:
        """A run asked for an object."""

    def note_own_write(self, uid: str, resource_version: str) -> None:
        pass


def _node(name: str) -> Json:
    # The taint keeps the scheduler from filling it with pods of others.
    return {
        "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]},
    }


def _is_controllers(item: Json) -> bool:
    owners = item["metadata"].get("ownerReferences", [])
    is_event = "involvedObject" in item and item["metadata"]["name"] != "reported"
    return is_event or any(owner["kind"] in ("ReplicaSet",) for owner in owners)


def _login_in(kubeconfig: Path) -> tuple[str, str]:
    found = re.search(r'username: "(.*)"\n\s+password: "(.*)"', kubeconfig.read_text())
    assert found, "the kubeconfig of a run names its user"
    return found[1], found[2]
