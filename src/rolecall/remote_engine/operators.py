"""Finds the pods of an operator by their label; whom to ask, by Leases: who leads, or has a CR."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rolecall.errors import ClusterError, InputError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NotFoundError
from rolecall.remote_engine.divided import DividedCrs, divided_crs, is_of_shards

ENGINE_LABEL = "rolecall.dev/engine"
_POD = Gvk("", "v1", "Pod")
_DEPLOYMENT = Gvk("apps", "v1", "Deployment")
_LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_ARTIFACTS_FLAG, _PAGE_FLAG = "artifacts-dir", "page-bind-address"
_PAGE_VARIABLE = "ROLECALL_PAGE_BIND_ADDRESS"
_LONGEST_HOST = 63


class NoOperatorError(ClusterError):
    """There is no operator where we may look."""


@dataclass(frozen=True, slots=True)
class EnginePod:
    """A pod in which an engine runs."""

    name: str
    container: str
    is_ready: bool
    artifacts_dir: str = ""  # as its arguments have it
    page: str = ""  # the address that its page is bound to; empty: not known


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, with its replicas."""

    namespace: str
    name: str
    pods: Sequence[EnginePod]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


async def find_operator(client: Client, wanted: str) -> Operator:
    """The operator that was named as `NAMESPACE/NAME` or `NAME`, or the only one."""
    namespace, _, name = wanted.rpartition("/")
    found = await _labelled(client, namespace)
    if name:
        same = [each for each in found if name == each.name]
        found = same or await _deployed(client, namespace, name, found)
    if len(found) > 1:
        named = ", ".join(f"`{each}`" for each in found)
        raise InputError(
            f"there are several operators: {named}",
            hint="choose one with --operator NAMESPACE/NAME",
        )
    if not found:
        where = f"in namespace `{namespace}`" if namespace else "in this cluster"
        what = f"operator `{name}`" if name else f"pod with the label `{ENGINE_LABEL}`"
        raise NoOperatorError(
            f"no {what} was found {where}", hint="name its Deployment: --operator NAMESPACE/NAME"
        )
    return found[0]


@dataclass(frozen=True, slots=True)
class PodChoice:
    """The pod to ask, and why that one: `leads`, or what else is known of it."""

    pod: EnginePod
    why: str
    # With it, all ready ones that divide the CRs among them, each of which knows only its part.
    dividing: Sequence[EnginePod] = ()


ShardAsked = Callable[[int], Awaitable[int | None]]


async def any_shard(_count: int) -> int | None:
    """Where nothing is asked about one CR."""
    return None


async def choose_pod(
    client: Client, operator: Operator, shard_asked: ShardAsked = any_shard
) -> PodChoice:
    """The pod that leads; of pods that divide the CRs, the one that has the shard which is asked for.

    `shard_asked` gets their number, and is called only where there are any.
    """
    pods = {_host_of(pod): pod for pod in operator.pods}
    try:
        leases = await client.list_all(_LEASE, operator.namespace)
        why = "was chosen: no Lease names a leader"
    except ForbiddenError:
        leases, why = [], "was chosen: you may not list the Leases that name a leader"
    if (divided := divided_crs(leases, pods)) is not None:
        return _of_dividing(operator, divided, await shard_asked(divided.count))
    for lease in leases:
        holder = str((lease.get("spec") or {}).get("holderIdentity") or "")
        pod = pods.get(holder.rpartition("_")[0])
        if pod is not None and not is_of_shards(lease):
            return PodChoice(pod, "leads")
    ready = _ready(operator)
    return PodChoice(ready[0], "is the only one" if len(pods) == 1 else why)


def _of_dividing(operator: Operator, divided: DividedCrs, shard: int | None) -> PodChoice:
    pods = {_host_of(pod): pod for pod in operator.pods}
    ready = sorted(_ready(operator), key=lambda pod: _host_of(pod) not in divided.hosts)
    dividing = [pod for pod in ready if _host_of(pod) in divided.hosts]
    if shard is None:
        held = divided.shards_of(_host_of(ready[0]))
        return PodChoice(ready[0], f"has {held} of {divided.count} shards", dividing)
    place = f"shard {shard} of {divided.count}, in which this CR is"
    host = divided.holders.get(shard, "")
    if host in pods:
        return PodChoice(pods[host], f"has {place}", dividing)
    why = f"has its holder, `{host}`, in a pod that is not running" if host else "has no holder"
    return PodChoice(ready[0], f"was chosen: {place}, {why}", dividing)


def _ready(operator: Operator) -> list[EnginePod]:
    found = [pod for pod in operator.pods if pod.is_ready]
    if not found:
        raise ClusterError(
            f"no pod of operator `{operator}` is ready",
            hint=f"`kubectl -n {operator.namespace} get pods` says why",
        )
    return found


def _host_of(pod: EnginePod) -> str:
    """What a pod is called inside: Kubernetes cuts a longer name."""
    return pod.name[:_LONGEST_HOST].rstrip("-.")


async def _labelled(client: Client, namespace: str) -> list[Operator]:
    try:
        pods = await client.list_all(_POD, namespace, label_selector=ENGINE_LABEL)
    except ForbiddenError:
        if namespace:
            raise
        # Who may not list the pods of all namespaces may often list those of one.
        own = client.credentials.namespace
        pods = await client.list_all(_POD, own, label_selector=ENGINE_LABEL)
    found: dict[tuple[str, str], list[EnginePod]] = {}
    for pod in pods:
        if _is_alive(pod):
            metadata = pod["metadata"]
            key = (metadata["namespace"], metadata["labels"][ENGINE_LABEL])
            found.setdefault(key, []).append(_engine_pod(pod))
    return [Operator(*key, engines) for key, engines in found.items()]


async def _deployed(
    client: Client, namespace: str, name: str, labelled: Sequence[Operator]
) -> list[Operator]:
    """The operator of this Deployment; its pods need no label of ours."""
    places = [namespace] if namespace else sorted({each.namespace for each in labelled})
    found = []
    for place in places:
        try:
            deployment = await client.get(_DEPLOYMENT, place, name)
        except NotFoundError:
            continue
        labels = deployment["spec"]["selector"].get("matchLabels") or {}
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        pods = await client.list_all(_POD, place, label_selector=selector)
        engines = [_engine_pod(pod) for pod in pods if _is_alive(pod)]
        found.append(Operator(place, name, engines))
    return found


def _is_alive(pod: Json) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return "deletionTimestamp" not in pod["metadata"] and phase == "Running"


def _engine_pod(pod: Json) -> EnginePod:
    metadata = pod["metadata"]
    containers = pod["spec"]["containers"]
    wanted = (metadata.get("annotations") or {}).get(_DEFAULT_CONTAINER)
    container = next((each for each in containers if each["name"] == wanted), containers[0])
    conditions = (pod.get("status") or {}).get("conditions") or []
    is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return EnginePod(
        metadata["name"],
        container["name"],
        is_ready,
        # A variable is seen by every program in the container anyway.
        _flag_of(container, _ARTIFACTS_FLAG),
        _flag_of(container, _PAGE_FLAG) or _variable_of(container, _PAGE_VARIABLE),
    )


def _variable_of(container: Mapping[str, Any], name: str) -> str:
    named = (each for each in container.get("env") or () if each["name"] == name)
    return next((str(each.get("value") or "") for each in named), "")


def _flag_of(container: Mapping[str, Any], flag: str) -> str:
    """Its value in the arguments of the container."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name == flag:
            return str(value if equals else following)
    return ""
