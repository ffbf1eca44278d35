"""What an operation does next, from what is there.

`machineoperation_turn` decides for one that is pending, `machineoperation_removals` and
`machineoperation_progress` for one that is running, `machineoperation_left` for one that ended.
`machineoperation_ahead` names the operations of a machine that go before this one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

Object = dict[str, Any]

_MOST_PAUSE_S = 15
_MOST_SEARCH_PAUSE_S = 30
_ENDED = ("Succeeded", "Failed")


def machineoperation_turn(
    me: Object, machine: Object, operations: list[Object], now: str, limits: Object
) -> Object:
    """Of one that is pending: `do` is wait, start or end; with `reason`, `message` and `again`."""
    spec, waited = me["spec"], _seconds(me["metadata"]["creationTimestamp"], now)
    if not machine:
        return _without_machine(spec["machine"], waited, int(limits["machine_wait"]))
    if ahead := machineoperation_ahead(operations, me):
        return _wait("waits for " + ", ".join(ahead), _pause(waited, limits))
    if spec["type"] == "Reboot" and not machine["spec"].get("running", True):
        return _fail("MachineStopped", "the machine is stopped: set its spec.running to true")
    return {"do": "start", "reason": "Running", "message": f"{spec['type']} is under way"}


def _without_machine(name: str, waited: int, limit: int) -> Object:
    """It may be created in a moment, together with this operation; a mistyped one never comes."""
    words = f"there is no Machine `{name}`"
    if waited >= limit:
        told = f"{words} after {waited} s; delete this operation and create another with the right name"
        return _fail("MachineNotFound", told)
    return _wait(words, max(2, min(waited // 2, _MOST_SEARCH_PAUSE_S, limit - waited)))


def machineoperation_removals(
    me: Object, pod: Object, disk: Object, now: str, limits: Object
) -> Object:
    """Uids of the `pod` and the `disk` to be removed now, else empty. None once the time is over."""
    old_disk = me["spec"]["type"] == "Rebuild" and _is_old(me, disk, "disk")
    # A new pod that took hold of the old disk in time would keep it for ever.
    old_pod = _is_old(me, pod, "pod") or (bool(pod) and old_disk)
    in_time = not _is_late(me, now, limits)
    return {
        "pod": pod["metadata"]["uid"] if in_time and old_pod and not _is_going(pod) else "",
        "disk": disk["metadata"]["uid"] if in_time and old_disk and not _is_going(disk) else "",
    }


def machineoperation_progress(me: Object, world: Object, now: str, limits: Object) -> Object:
    """Of one that is running: `do` is wait or end; with `phase`, `reason`, `message` and `again`.

    `world` has machine, pod, disk and snapshot, `why` (why the pod is not ready), `refused`
    (why something could not be removed or made), `served` (whether there are VolumeSnapshots here) and
    `foreign` (who else has one of the operation's name).
    """
    kind, ran = me["spec"]["type"], _seconds(me["status"]["startTime"], now)
    if not world["machine"]:
        return _fail("MachineNotFound", "the machine was deleted meanwhile")
    if kind == "Snapshot" and not world["served"]:
        return _fail("SnapshotsNotServed", "the API server has no VolumeSnapshot; install its CRDs")
    if world["foreign"]:
        told = f"{', '.join(world['foreign'])} was there before; name the operation otherwise"
        return _fail("NameTaken", told)
    if _is_done(me, world):
        return _end("Succeeded", "Succeeded", f"{kind} took {ran} s")
    hindrance = _hindrance(me, world)
    if _is_late(me, now, limits):
        told = hindrance or me["status"].get("message", "")
        return _fail("TimedOut", f"not done after {limits['timeout']} s: {told}")
    return _wait(hindrance or f"{kind} is under way", _pause(ran, limits))


def _is_done(me: Object, world: Object) -> bool:
    if me["spec"]["type"] == "Snapshot":
        return bool(world["snapshot"].get("status", {}).get("readyToUse"))
    pod, disk = world["pod"], world["disk"]
    if me["spec"]["type"] == "Rebuild" and (not disk or _is_old(me, disk, "disk")):
        return False
    if not world["machine"]["spec"].get("running", True):
        return not pod
    return bool(pod) and not _is_old(me, pod, "pod") and _is_ready(pod)


def _hindrance(me: Object, world: Object) -> str:
    """What keeps it from going on; empty where all goes its way."""
    if world["refused"]:
        return str(world["refused"])
    if me["spec"]["type"] == "Snapshot":
        return str(world["snapshot"].get("status", {}).get("error", {}).get("message", ""))
    for part in ("pod", "disk"):
        found = world[part]
        if held := _held(found):
            name = f"{found['kind']} `{found['metadata']['name']}`"
            return f"the {name} is being removed, and held by the finalizer {', '.join(held)}"
    if world["pod"] and not _is_old(me, world["pod"], "pod") and world["why"]:
        return f"the new pod is not ready: {world['why']}"
    return ""


def _held(found: Object) -> list[str]:
    """Finalizers of others than Kubernetes on something that is going."""
    if not _is_going(found):
        return []
    names: list[str] = found["metadata"].get("finalizers", [])
    return [name for name in names if "kubernetes.io/" not in name and "/" in name]


def machineoperation_left(me: Object, now: str, ttl: int | str) -> int:
    """Seconds until one that ended is removed; 0: now; -1: never."""
    status = me.get("status", {})
    if int(ttl) < 0 or phase_of(me) not in _ENDED or "endTime" not in status:
        return -1
    return max(0, int(ttl) - _seconds(status["endTime"], now))


def machineoperation_ahead(operations: list[Object], me: Object) -> list[str]:
    """Names of the operations that this one waits for; none means that it may go.

    One that runs goes before all that wait; those that wait go in order of creation. Two that both
    marked themselves as running in the same instant see each other afterwards: then order of creation
    decides too, so exactly one steps back.
    """
    others = [
        other
        for other in operations
        if other["spec"]["machine"] == me["spec"]["machine"]
        and other["metadata"]["uid"] != me["metadata"]["uid"]
        and "deletionTimestamp" not in other["metadata"]
        and phase_of(other) in ("Pending", "Running")
    ]
    i_run = phase_of(me) == "Running"
    return [
        other["metadata"]["name"]
        for other in sorted(others, key=_age)
        if _goes_first(other, me, i_run=i_run)
    ]


def _goes_first(other: Object, me: Object, *, i_run: bool) -> bool:
    if i_run:
        return phase_of(other) == "Running" and _age(other) < _age(me)
    return phase_of(other) == "Running" or _age(other) < _age(me)


def phase_of(operation: Object) -> str:
    """The phase; an operation that nobody looked at yet is pending."""
    return str(operation.get("status", {}).get("phase", "Pending"))


def _age(operation: Object) -> tuple[str, str]:
    metadata = operation["metadata"]
    return (metadata["creationTimestamp"], metadata["name"])


def _wait(message: str, again: int) -> Object:
    return {"do": "wait", "message": message, "again": f"{again}s"}


def _fail(reason: str, message: str) -> Object:
    return _end("Failed", reason, message)


def _end(phase: str, reason: str, message: str) -> Object:
    return {"do": "end", "phase": phase, "reason": reason, "message": message}


def _pause(passed: int, limits: Object) -> int:
    """Longer the longer it took: what is not there after a minute is hardly there in two seconds."""
    return max(int(limits["retry"]), min(passed // 5, _MOST_PAUSE_S))


def _is_late(me: Object, now: str, limits: Object) -> bool:
    return _seconds(me["status"]["startTime"], now) > int(limits["timeout"])


def _is_old(me: Object, found: Object, part: str) -> bool:
    """Whether it is what was there when the operation began."""
    replaced = me.get("status", {}).get("replaced", {}).get(part, "")
    return bool(found) and found["metadata"]["uid"] == replaced


def _is_going(found: Object) -> bool:
    return "deletionTimestamp" in found.get("metadata", {})


def _is_ready(pod: Object) -> bool:
    rows = pod.get("status", {}).get("conditions", [])
    is_ready = any(row["type"] == "Ready" and row["status"] == "True" for row in rows)
    return is_ready and not _is_going(pod)


def _seconds(since: str, until: str) -> int:
    passed = datetime.fromisoformat(until) - datetime.fromisoformat(since)
    return int(passed.total_seconds())


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "machineoperation_ahead": machineoperation_ahead,
            "machineoperation_left": machineoperation_left,
            "machineoperation_progress": machineoperation_progress,
            "machineoperation_removals": machineoperation_removals,
            "machineoperation_turn": machineoperation_turn,
        }
