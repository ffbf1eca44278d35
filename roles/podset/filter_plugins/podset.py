"""Filter `podset_plan`: which pods to keep, remove and create, and how many are ready."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Pod = dict[str, Any]


def podset_plan(
    pods: list[Pod], name: str, replicas: int, in_the_way: Iterable[str] = ()
) -> dict[str, Any]:
    """Plan the step from the pods that are there to `replicas` of them.

    New pods get numbered names that no pod has, not even one that is going: a pod that was created
    but not seen yet is then met again by its name, and never doubled. `in_the_way` are names of pods
    that belong to somebody else.
    """
    staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    ended = [pod for pod in staying if _phase(pod) in ("Failed", "Succeeded")]
    alive = sorted((pod for pod in staying if pod not in ended), key=_worth)
    taken = {*_names(pods), *in_the_way}
    numbered = (f"{name}-{number}" for number in range(replicas + len(taken)))
    free = [candidate for candidate in numbered if candidate not in taken]
    keep = alive[:replicas]
    return {
        "keep": sorted(_names(keep)),
        "ready": sum(is_ready(pod) for pod in keep),
        "remove": _names(ended) + _names(alive[replicas:]),
        "create": free[: max(replicas - len(alive), 0)],
    }


def _phase(pod: Pod) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def is_ready(pod: Pod) -> bool:
    """Whether the pod's `Ready` condition is true."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)


def _worth(pod: Pod) -> tuple[bool, str, str]:
    """Sorts whom to keep first: the ready before the others, the older before the newer."""
    metadata = pod["metadata"]
    return (not is_ready(pod), metadata["creationTimestamp"], metadata["name"])


def _names(pods: list[Pod]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


class FilterModule:
    """How Ansible finds the filter."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"podset_plan": podset_plan}
