"""Whether a pod is one that its operator's Deployment made: a label alone can be put on any pod.

Followed are the controllers, by UID, up to a Deployment or StatefulSet of the operator's name, which
must run with the same ServiceAccount. Only who may write Deployments or pods in the operator's own
namespace can forge that, and could use the operator's ServiceAccount as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import Client, NotFoundError
from rolecall.remote_engine.operators import ENGINE_LABEL, EnginePod, Operator

_POD = Gvk("", "v1", "Pod")
_APPS = "apps/v1"
_LONGEST_CHAIN = 3  # a pod, its ReplicaSet, its Deployment
_WORKLOADS = frozenset({"Deployment", "StatefulSet"})


class UnverifiedPodError(ClusterError):
    """The pod does not belong to the Deployment of the operator."""


async def verify_pod(client: Client, operator: Operator, pod: EnginePod) -> str:
    """The ServiceAccount of the operator's pod; raises `UnverifiedPodError`, `ForbiddenError`."""
    place = f"{operator.namespace}/{pod.name}"
    try:
        found = await client.get(_POD, operator.namespace, pod.name)
        workload = await _workload_of(client, operator.namespace, found)
    except NotFoundError as failure:
        raise _unverified(place, f"its controller is gone: {failure.message}") from failure
    if workload is None:
        raise _unverified(place, "it is not controlled by a Deployment or StatefulSet")
    template = as_map(as_map(workload.get("spec")).get("template"))
    labels = as_map(as_map(template.get("metadata")).get("labels"))
    name = as_map(workload.get("metadata")).get("name")
    if operator.name not in (name, labels.get(ENGINE_LABEL)):
        raise _unverified(place, f"it belongs to `{name}`")
    account = _account_of(as_map(found.get("spec")))
    if account != _account_of(as_map(template.get("spec"))):
        raise _unverified(
            place, f"it runs as `{account}`, which its {workload.get('kind')} does not"
        )
    return account


async def _workload_of(client: Client, namespace: str, found: Json) -> Json | None:
    """What controls it in the end; None: nothing that counts."""
    for _ in range(_LONGEST_CHAIN):
        if found.get("kind") in _WORKLOADS:
            return found
        owner = _controller_of(found)
        if owner.get("apiVersion") != _APPS:
            return None
        kind, name = str(owner.get("kind") or ""), str(owner.get("name") or "")
        if kind not in (*_WORKLOADS, "ReplicaSet") or not name:
            return None
        above = await client.get(Gvk("apps", "v1", kind), namespace, name)
        if not owner.get("uid") or as_map(above.get("metadata")).get("uid") != owner.get("uid"):
            return None
        found = {**above, "kind": kind}
    return found if found.get("kind") in _WORKLOADS else None


def _controller_of(found: Mapping[str, Any]) -> Json:
    owners = as_map(found.get("metadata")).get("ownerReferences")
    rows = map(as_map, owners if isinstance(owners, list) else ())
    return next((row for row in rows if row.get("controller") is True), {})


def _account_of(spec: Mapping[str, Any]) -> str:
    return str(spec.get("serviceAccountName") or "default")


def _unverified(place: str, why: str) -> UnverifiedPodError:
    return UnverifiedPodError(
        f"pod `{place}` has the label `{ENGINE_LABEL}` but is not verified: {why}",
        hint="name the Deployment of the operator: --operator NAMESPACE/NAME",
    )
