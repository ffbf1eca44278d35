"""Rights that reach farther than their names say, and what a reviewer should know of them."""

from __future__ import annotations

from rolecall_dev.rbac.rights import Right, Rights

# Of the core group; `get` is what the WebSocket of the same request needs.
_INTO_PODS = ("pods/exec", "pods/attach")
COMMENT = (
    "Near to admin: a command in a pod reads the pod's Secrets and volumes and acts with its token.",
    "In a ClusterRole: in every pod of the cluster.",
)


def reaches_into_pods(group: str, resource: str) -> bool:
    """Whether it lets commands run in other people's containers."""
    return not group and resource in _INTO_PODS


def warnings_of(rights: Rights, *, is_cluster_wide: bool) -> list[str]:
    """One for each right that a reviewer should not pass by."""
    reach = "all namespaces" if is_cluster_wide else "the namespaces where the Role is bound"
    return [
        f"`{resource}` is near to admin of all pods in {reach}: whoever has the operator's token can"
        f" run commands in them, read their Secrets and volumes, and act with their tokens;"
        f" needed by {', '.join(rights.reasons_for('', resource)[:3])}"
        for resource in _INTO_PODS
        if any(Right("", resource, verb) in rights for verb in ("get", "create"))
    ]
