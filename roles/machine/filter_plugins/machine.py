"""What is done with a machine's pod and disk, and what is said of them.

`machine_shape` marks a pod with what it was made from, `machine_plan` decides, `machine_seen` remembers
the pod as it was let in, and `machine_verdict` tells what came of it.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from decimal import Decimal
from typing import Any

Object = dict[str, Any]

SHAPE = "compute.rolecall.dev/shape"
_CONTAINER = "machine"
_GROUP = 1000
# A pod that is older and still not ready is left to the period of the watch.
_YOUNG_S = 120
_RESIZE_FAILED = ("ControllerResizeError", "NodeResizeError")


def machine_shape(image: str, resources: Object, user: int | str) -> str:
    """Of what a pod is made, in short: a pod with another shape is replaced.

    A machine without a user (-1) has the shape that it had before there were users.
    """
    words = [image, json.dumps(resources, sort_keys=True)]
    if int(user) >= 0:
        words.append(f"user {int(user)}")
    return hashlib.sha1(" ".join(words).encode(), usedforsecurity=False).hexdigest()


def machine_pod_security(user: int | str) -> Object:
    """What Pod Security `restricted` asks of a pod, but for a machine that asks to run as root.

    A group of its own may write on the disk, whatever user the image has.
    """
    number = int(user)
    return {
        "runAsNonRoot": number != 0,
        "fsGroup": number if number > 0 else _GROUP,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
        **({"runAsUser": number} if number >= 0 else {}),
    }


def machine_plan(pod: Object, disk: Object, said: Object, wanted: Object) -> Object:
    """What to do: `pod` is keep, create, remove or wait; `disk` is keep, create or grow.

    `said` is the machine's status. `wanted` has `running`, the `shape`, and in bytes what the disk
    shall have (`disk`) and what its claim asks for now (`disk_now`).
    """
    return {"pod": _pod_step(pod, disk, said, wanted), "disk": _disk_step(disk, wanted)}


def _pod_step(pod: Object, disk: Object, said: Object, wanted: Object) -> str:
    if not pod:
        # A claim that is being deleted would be held for ever by a new pod that mounts it.
        return "create" if wanted["running"] and not _is_going(disk) else "wait"
    if _is_going(pod):
        return "wait"
    has_ended = pod.get("status", {}).get("phase") in ("Failed", "Succeeded")
    if has_ended or not wanted["running"] or _differs(pod, said, wanted["shape"]):
        return "remove"
    return "keep"


def _differs(pod: Object, said: Object, shape: str) -> bool:
    """Whether the pod was made from something else, or its image was edited afterwards.

    The image is compared with what was first seen of this very pod and never with the spec: a webhook
    may have made another of it when the pod was created, and would do so with the next pod too.
    """
    if pod["metadata"].get("annotations", {}).get(SHAPE) != shape:
        return True
    return bool(machine_seen(pod, said)["image"] != _image(pod))


def machine_seen(pod: Object, said: Object) -> Object:
    """Uid and image of the pod as they were when it was first seen; empty where there is none."""
    if not pod:
        return {"uid": "", "image": ""}
    seen: Object = said.get("podSeen", {})
    uid = pod["metadata"]["uid"]
    return seen if seen.get("uid") == uid else {"uid": uid, "image": _image(pod)}


def _image(pod: Object) -> str:
    """Of our container, wherever it stands among those that a webhook added."""
    rows = pod["spec"]["containers"]
    return next((str(row["image"]) for row in rows if row["name"] == _CONTAINER), "")


def _disk_step(disk: Object, wanted: Object) -> str:
    if not disk:
        return "create"
    # A claim takes another size only once it has a volume.
    can_grow = disk.get("status", {}).get("phase") == "Bound" and not _is_going(disk)
    return "grow" if can_grow and _number(wanted["disk"]) > _number(wanted["disk_now"]) else "keep"


def machine_verdict(pod: Object, disk: Object, plan: Object, wanted: Object) -> Object:
    """What is told: `ready`, `reason`, `message`, `phase`, the condition `disk`; `again`: look soon.

    `wanted` has what `machine_plan` asks for, and `refusal` (why the disk may not grow), `why` (why the
    pod is not ready), `restore_from`, `capacity` in bytes, and `now`.
    """
    told = _pod_verdict(pod, plan, wanted)
    again = not told["ready"] and told["phase"] != "Stopped" and _is_young(pod, wanted["now"])
    if wanted["refusal"] and wanted["running"]:
        message = f"the disk keeps its size: {wanted['refusal']}; {told['message']}"
        told |= {"ready": False, "reason": "DiskRefused", "message": message}
    return told | {"disk": {"type": "DiskReady", **_disk_verdict(disk, wanted)}, "again": again}


def _pod_verdict(pod: Object, plan: Object, wanted: Object) -> Object:
    if not wanted["running"]:
        phase = "Stopping" if pod else "Stopped"
        message = "the pod is being removed" if pod else "the machine is stopped, its disk is kept"
        return {"ready": False, "reason": phase, "phase": phase, "message": message}
    is_leaving = _is_going(pod) or plan["pod"] == "remove"
    phase = "Replacing" if is_leaving else str(pod.get("status", {}).get("phase", "Pending"))
    if not is_leaving and _is_ready(pod):
        return {"ready": True, "reason": "PodReady", "phase": phase, "message": "the pod is ready"}
    why = f": {wanted['why']}" if wanted["why"] and not is_leaving else ""
    message = f"the pod is not ready yet, {phase.lower()}{why}"
    return {"ready": False, "reason": f"Pod{phase}", "phase": phase, "message": message}


def _disk_verdict(disk: Object, wanted: Object) -> Object:
    phase = disk.get("status", {}).get("phase", "Pending")
    if _is_going(disk):
        return _row(False, "DiskGoing", "the claim is being deleted")
    if phase == "Lost":
        return _row(
            False, "DiskLost", "the claim lost its volume; a Rebuild makes a new, empty one"
        )
    if phase != "Bound":
        return _row(False, "DiskPending", "the claim waits for a volume" + _origin(wanted))
    if wanted["refusal"]:
        return _row(False, "DiskRefused", str(wanted["refusal"]))
    return _size_verdict(disk, wanted)


def _size_verdict(disk: Object, wanted: Object) -> Object:
    has = disk["status"].get("capacity", {}).get("storage", "its size")
    if _number(wanted["capacity"]) < _number(wanted["disk"]):
        return _row(False, "DiskGrowing", f"the disk has {has} and grows" + _hindrance(disk))
    if _number(wanted["disk_now"]) > _number(wanted["disk"]):
        return _row(True, "DiskBound", f"the disk has {has}; it never shrinks")
    return _row(True, "DiskBound", f"the disk has {has}" + _other_origin(disk, wanted))


def _row(is_true: bool, reason: str, message: str) -> Object:
    return {"status": str(is_true), "reason": reason, "message": message}


def _origin(wanted: Object) -> str:
    snapshot = wanted["restore_from"]
    return f", to be filled from the VolumeSnapshot `{snapshot}`" if snapshot else ""


def _other_origin(disk: Object, wanted: Object) -> str:
    """Says that a snapshot which was named afterwards has no effect yet."""
    snapshot = wanted["restore_from"]
    if not snapshot or disk["spec"].get("dataSource", {}).get("name") == snapshot:
        return ""
    return f"; it was not made from the VolumeSnapshot `{snapshot}`: a Rebuild does so"


def _hindrance(disk: Object) -> str:
    rows = disk["status"].get("conditions", [])
    words = [row.get("message", "") for row in rows if row["type"] in _RESIZE_FAILED]
    return "".join(f"; {text}" for text in words[:1])


def _number(value: Any) -> Decimal:
    """Templates of older ansible-core make text of numbers."""
    return Decimal(str(value))


def _is_going(thing: Object) -> bool:
    return "deletionTimestamp" in thing.get("metadata", {})


def _is_ready(pod: Object) -> bool:
    rows = pod.get("status", {}).get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)


def _is_young(pod: Object, now: str) -> bool:
    if not pod:
        return True
    began = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
    return (datetime.fromisoformat(now) - began).total_seconds() < _YOUNG_S


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "machine_plan": machine_plan,
            "machine_pod_security": machine_pod_security,
            "machine_seen": machine_seen,
            "machine_shape": machine_shape,
            "machine_verdict": machine_verdict,
        }
