"""The verbs that a task of kubernetes.core needs, so that one message lists them all.

The API server refuses one verb at a time: a role that lacks three would fail three times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rolecall.runner.events import TaskEvent

_COLLECTIONS = (
    "kubernetes.core.",
    "community.kubernetes.",
    "community.okd.",
    "redhat.openshift.",
    "",
)
_WRITES = frozenset(f"{collection}k8s" for collection in _COLLECTIONS)
_READS = frozenset(f"{collection}k8s_info" for collection in _COLLECTIONS)
VERBS_OF_STATE = {
    "present": ("get", "create", "patch"),
    "patched": ("get", "patch"),
    "absent": ("get", "delete"),
}


def needed_verbs(task: TaskEvent) -> tuple[str, ...]:
    """Of the objects that it names; none where the module is not known to need more than one."""
    actions = {task.action, task.resolved_action}
    if actions & _READS:
        return ("get", "list")
    if not actions & _WRITES:
        return ()
    arguments = next(_arguments(task.result), {})
    if arguments.get("force"):
        return ("get", "create", "update")
    return VERBS_OF_STATE.get(str(arguments.get("state") or "present"), ())


def _arguments(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """With which the module was called: of the item that failed, or of the task."""
    items = result.get("results")
    for each in [*(items if isinstance(items, list) else ()), result]:
        if isinstance(each, Mapping) and (each is result or each.get("failed")):
            invocation = each.get("invocation")
            found = invocation.get("module_args") if isinstance(invocation, Mapping) else None
            if isinstance(found, Mapping):
                yield found
