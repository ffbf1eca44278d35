"""Sorts the pods of a PodSet in one pass: Jinja would take seconds for a thousand of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_OWNER_LABEL = "apps.rolecall.dev/podset"
_TEMPLATE_LABEL = "apps.rolecall.dev/template"
_EVER = "1970-01-01T00:00:00Z"


def podset_sorted(pods: Any, others: Any, cr: Any, limits: Any) -> Any:
    """Names of the pods by what they are, in the order in which they are kept.

    `limits`: the time that is `now`, the hash of the present `template`, for how many seconds a pod
    must be ready until it is `available`, and until what age it is `young`. `others`, where they were
    read: all pods of the namespace. One of ours may have lost its label, and a name may be another's.
    """
    uid, clock, status = cr["metadata"]["uid"], _seconds(limits["now"]), cr.get("status", {})
    found = {pod["metadata"]["name"]: pod for pod in (*pods, *others)}
    ours = [pod for pod in found.values() if _is_ours(pod["metadata"], uid)]
    staying = [pod for pod in ours if "deletionTimestamp" not in pod["metadata"]]
    rows = [_row(pod, uid, limits["template"]) for pod in staying]
    ended = [row for row in rows if row["ended"]]
    ended.sort(key=lambda row: (row["ended"], row["created"], row["name"]))
    alive = sorted((row for row in rows if not row["ended"]), key=_worth)
    known, patience = set(status.get("podNames", [])), limits["available"]
    prefix = f"{cr['metadata']['name']}-"
    numbers = [name.removeprefix(prefix) for name in found if name.startswith(prefix)]
    return {
        "now": limits["now"],
        "clock": clock,
        "quiet": clock - _seconds(status.get("lastFailureTime") or _EVER),
        "alive": _names(alive),
        "ready": _names(row for row in alive if row["ready"]),
        "serving": _names(row for row in alive if row["ready"] and row["outdated"]),
        "idle": _names(row for row in alive if not row["ready"] and row["outdated"]),
        "available": _names(row for row in alive if 0 < row["ready"] <= clock - patience),
        "young": _names(row for row in alive if clock - _seconds(row["created"]) < limits["young"]),
        "unmarked": [{"name": row["name"], **row["lacks"]} for row in alive if row["lacks"]],
        "ended": _names(ended),
        "last": ended[-1] if ended else {},
        # When those were made whose end the status does not know yet.
        "news": [row["created"] for row in ended if row["name"] in known],
        # Also by pods that are going, and by one whose creation was not reported: it is not doubled.
        "taken": [int(text) for text in numbers if text.isdecimal() and str(int(text)) == text],
    }


def podset_named(names: Any, wanted: Any, pods: Any) -> list[Any]:
    """Those pods of `names` that are wanted, in their order."""
    wanted, found = set(wanted), {pod["metadata"]["name"]: pod for pod in pods}
    return [found[name] for name in names if name in wanted]


def _row(pod: Any, uid: str, template: str) -> dict[str, Any]:
    metadata, status = pod["metadata"], pod.get("status", {})
    labels, owners = metadata.get("labels", {}), metadata.get("ownerReferences", [])
    # Without an owner, the pod would outlive its PodSet. A pod may have one controller only.
    lacks_owner = not any(owner["uid"] == uid or owner.get("controller") for owner in owners)
    # A pod without the mark of a template is taken for one of the present one, and marked.
    mark = labels.get(_TEMPLATE_LABEL) or template
    is_marked = labels.get(_OWNER_LABEL) == uid and labels.get(_TEMPLATE_LABEL)
    return {
        "name": metadata["name"],
        "created": metadata["creationTimestamp"],
        "status": status,
        "outdated": mark != template,
        "lacks": {} if is_marked and not lacks_owner else {"template": mark, "owner": lacks_owner},
        "ready": _ready_since(status),
        "ended": _end(status) if status.get("phase") in ("Failed", "Succeeded") else "",
    }


def _is_ours(metadata: Any, uid: str) -> bool:
    """By our label, or as owner, where another client removed the label."""
    owners = {owner["uid"] for owner in metadata.get("ownerReferences", [])}
    return uid in owners or metadata.get("labels", {}).get(_OWNER_LABEL) == uid


def _ready_since(status: Any) -> int:
    """In seconds; 0 for a pod that is not ready."""
    ready = next((row for row in status.get("conditions", []) if row["type"] == "Ready"), {})
    since = _seconds(ready.get("lastTransitionTime") or _EVER)
    return max(since, 1) if ready.get("status") == "True" else 0


def _end(status: Any) -> str:
    rows = (row.get("state", {}).get("terminated") for row in status.get("containerStatuses", []))
    return max((row.get("finishedAt") or _EVER for row in rows if row), default=_EVER)


def _worth(row: Any) -> tuple[bool, bool, str, str]:
    """The ready are kept first, then those of the present template, then the older."""
    return not row["ready"], row["outdated"], row["created"], row["name"]


def _names(rows: Any) -> list[str]:
    return [row["name"] for row in rows]


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


class FilterModule:
    """What Ansible loads."""

    filters = staticmethod(lambda: {"podset_sorted": podset_sorted, "podset_named": podset_named})
