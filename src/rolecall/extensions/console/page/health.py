"""How an object does, from its status: in a word or two, and why where it does not do well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map

_LONGEST_WHY = 400
# Of a container that waits for nothing worse than its turn.
_STARTING = ("ContainerCreating", "PodInitializing")
_GOOD_PHASES = ("Running", "Succeeded", "Bound", "Active", "Available")


class Health(NamedTuple):
    words: str
    is_well: bool | None  # None: not known, or on its way
    why: str = ""


def health_of(gvk: Gvk, found: Json) -> Health:
    spec, status = as_map(found.get("spec")), as_map(found.get("status"))
    if as_map(found.get("metadata")).get("deletionTimestamp"):
        return Health("is being deleted", False)
    by_kind = _BY_KIND.get(gvk.kind)
    return (by_kind(spec, status) if by_kind else None) or _by_condition(status)


def health_of_service(ready: int) -> Health:
    """Of one that selects pods, by the endpoints that are ready."""
    if ready:
        return Health(f"{ready} endpoint{'s' * (ready != 1)}", True)
    return Health("no endpoints", False, "no pod that it selects is ready")


def ready_endpoints(endpoint_slice: Json) -> int:
    """A condition that is not there counts as ready, as in Kubernetes."""
    return sum(
        as_map(each.get("conditions")).get("ready") is not False
        for each in _maps(endpoint_slice.get("endpoints"))
    )


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_replicas(spec: Json, status: Json) -> Health:
    wanted, ready = spec.get("replicas", 1), status.get("readyReplicas") or 0
    return Health(f"{ready} of {wanted} ready", ready == wanted, _why_no_progress(status))


def _of_daemons(_spec: Json, status: Json) -> Health:
    wanted, ready = status.get("desiredNumberScheduled"), status.get("numberReady")
    return Health(f"{ready} of {wanted} ready", ready == wanted)


def _of_phase(_spec: Json, status: Json) -> Health:
    phase = _text(status.get("phase"))
    return Health(phase, phase in _GOOD_PHASES)


def _of_cron_job(spec: Json, status: Json) -> Health:
    active = len(as_list(status.get("active")))
    return Health("suspended" if spec.get("suspend") is True else f"{active} active", None)


def _of_ingress(_spec: Json, status: Json) -> Health:
    address = _address_in(status)
    return Health(f"address {address}" if address else "no address", bool(address) or None)


def _of_service(spec: Json, status: Json) -> Health | None:
    if spec.get("type") == "LoadBalancer" and not _address_in(status):
        return Health("no address", False, "its load balancer has no address yet")
    return None


def _of_pod(_spec: Json, status: Json) -> Health:
    phase = _text(status.get("phase"))
    if phase == "Failed":
        return Health(_text(status.get("reason")) or phase, False, _text(status.get("message")))
    return Health(phase, True) if phase == "Succeeded" else _of_living_pod(phase, status)


def _of_living_pod(phase: str, status: Json) -> Health:
    containers = [
        *_maps(status.get("initContainerStatuses")),
        *_maps(status.get("containerStatuses")),
    ]
    for container in containers:
        if trouble := _trouble_of(container):
            return trouble
    conditions = {_text(each.get("type")): each for each in _maps(status.get("conditions"))}
    placed = conditions.get("PodScheduled", {})
    if placed.get("status") == "False":
        reason = _text(placed.get("reason")).lower() or "not scheduled"
        return Health(f"{phase}: {reason}", False, _text(placed.get("message")))
    starting = next((each for each in containers if _waiting(each).get("reason")), None)
    if starting is not None:
        return Health(_text(_waiting(starting).get("reason")), None)
    restarts = _restarts_of(containers)
    if conditions.get("Ready", {}).get("status") == "False" and phase == "Running":
        late = [_text(each.get("name")) for each in containers if each.get("ready") is False]
        return Health("not ready", False, _joined(f"not ready: {', '.join(late)}", restarts))
    return Health(phase, phase in _GOOD_PHASES, restarts)


def _trouble_of(container: Json) -> Health | None:
    """Of a container that cannot start, or ended badly."""
    waiting, ended = _waiting(container), as_map(as_map(container.get("state")).get("terminated"))
    reason = _text(waiting.get("reason"))
    name = f"container {_text(container.get('name'))}"
    if reason and reason not in _STARTING:
        why = _joined(_text(waiting.get("message")), _restarts_of([container]))
        return Health(reason, False, f"{name}: {why}" if why else name)
    if ended and ended.get("exitCode") != 0:
        code = f"exit code {ended.get('exitCode')}"
        why = _joined(code, _text(ended.get("message")), _restarts_of([container]))
        return Health(_text(ended.get("reason")) or "Error", False, f"{name}: {why}")
    return None


def _restarts_of(containers: list[Json]) -> str:
    """How often they began again, and how the last one ended before that."""
    counts = [each.get("restartCount") for each in containers]
    count = sum(each for each in counts if isinstance(each, int))
    if count <= 0:
        return ""
    ends = [as_map(as_map(each.get("lastState")).get("terminated")) for each in containers]
    reasons = [_text(each.get("reason")) for each in ends if each.get("reason")]
    after = f", the last after {reasons[0]}" if reasons else ""
    return f"{count} restart{'s' * (count != 1)}{after}"


def _of_job(_spec: Json, status: Json) -> Health:
    failed, succeeded = status.get("failed") or 0, status.get("succeeded") or 0
    words = f"{succeeded} succeeded, {failed} failed"
    if active := status.get("active"):
        words = f"{active} active, {words}"
    true = {
        _text(each.get("type")): each
        for each in _maps(status.get("conditions"))
        if each.get("status") == "True"
    }
    if "Complete" in true:
        return Health(words, True)
    why = _text(true.get("Failed", {}).get("message"))
    return Health(words, "Failed" not in true and not failed, why)


def _why_no_progress(status: Json) -> str:
    """What a controller says where it cannot make or change pods."""
    for each in _maps(status.get("conditions")):
        is_stuck = (each.get("type"), each.get("status")) in (
            ("Progressing", "False"),
            ("ReplicaFailure", "True"),
        )
        if is_stuck and each.get("reason") != "DeploymentPaused":
            return _text(each.get("message"))
    return ""


def _by_condition(status: Json) -> Health:
    for each in _maps(status.get("conditions")):
        kind = str(each.get("type"))
        if kind in ("Ready", "Available", "Established"):
            is_true = each.get("status") == "True"
            why = "" if is_true else _text(each.get("message"))
            return Health(kind if is_true else f"not {kind}", is_true, why)
    return Health("exists", None)


def _address_in(status: Json) -> str:
    for each in _maps(as_map(status.get("loadBalancer")).get("ingress")):
        if address := _text(each.get("ip")) or _text(each.get("hostname")):
            return address
    return ""


def _waiting(container: Json) -> Json:
    return as_map(as_map(container.get("state")).get("waiting"))


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _maps(value: object) -> Iterator[Json]:
    return map(as_map, as_list(value))


def _text(value: object) -> str:
    return value[:_LONGEST_WHY] if isinstance(value, str) else ""


_BY_KIND: dict[str, Callable[[Json, Json], Health | None]] = {
    "Deployment": _of_replicas,
    "StatefulSet": _of_replicas,
    "ReplicaSet": _of_replicas,
    "DaemonSet": _of_daemons,
    "Pod": _of_pod,
    "Job": _of_job,
    "CronJob": _of_cron_job,
    "Ingress": _of_ingress,
    "Service": _of_service,
    "PersistentVolumeClaim": _of_phase,
    "PersistentVolume": _of_phase,
    "Namespace": _of_phase,
}
