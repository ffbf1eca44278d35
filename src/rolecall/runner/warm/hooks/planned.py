"""Which tasks of a play that only plans run, and how: pure rules, no Ansible in sight.

What speaks with the API server alone runs as ever: the proxy answers it from the plan's world. What
only computes or reads runs as ever. All else may change something that no proxy stands before, so it
runs in Ansible's check mode, where its module says what would change and does not do it, or not at all.
Nothing waits: what a task would wait for has not happened, and will not during a plan.

Unknown means acting. A module of the API that is told of another cluster is unknown, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from rolecall.runner.purity import asks_elsewhere
from rolecall.runner.warm.hooks.cluster_commands import CommandKind, kind_of_command
from rolecall.runner.warm.hooks.ways import INLINE_COLLECTIONS, PURE_ACTIONS


class Doing(Enum):
    """What becomes of a task, or of a module that it runs."""

    RUN = "run"
    CHECK = "check"  # in Ansible's check mode
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Decision:
    doing: Doing
    kind: str = ""  # of the note for the plan: `wait`, `left out`; empty: nothing to tell
    what: str = ""


_RUN = Decision(Doing.RUN)

# Modules that ask the API server and do nothing else.
_API_MODULES = frozenset(
    {
        *(
            f"kubernetes.core.{name}"
            for name in (
                "helm",
                "helm_info",
                "k8s",
                "k8s_cluster_info",
                "k8s_info",
                "k8s_json_patch",
                "k8s_log",
                "k8s_rollback",
                "k8s_scale",
                "k8s_service",
                "k8s_taint",
            )
        ),
        "operator_sdk.util.k8s_event",
        "operator_sdk.util.k8s_status",
        "operator_sdk.util.requeue_after",
        "rolecall.operator.refuse",
        "rolecall.operator.report",
        "rolecall.operator.report_failure",
    }
)
# Those of them that can wait, by `wait`; the option says so where it is not given, too.
_WAITING_MODULES = {
    **dict.fromkeys(("helm", "k8s", "k8s_info", "k8s_json_patch", "k8s_service"), False),
    "k8s_scale": True,
}
# Say so little of what they do in check mode that there is nothing to tell: they read.
_READING_MODULES = frozenset(
    {
        "find",
        "getent",
        "mount_facts",
        "package_facts",
        "ping",
        "service_facts",
        "setup",
        "slurp",
        "stat",
    }
)
_ELSEWHERE_PREFIXES = ("K8S_AUTH_", "KUBECONFIG", "HELM_KUBE")
_OTHERS = {
    **dict.fromkeys(_READING_MODULES, Decision(Doing.CHECK)),
    "wait_for": Decision(Doing.SKIP, "wait", "`wait_for`"),
}
# Decided for each module that the action runs.
_BY_MODULE = frozenset({"command", "gather_facts", "normal", "shell"})
# Actions of ansible-core that keep to check mode, read for it.
_CHECKED_ACTIONS = frozenset(
    {
        "assemble",
        "copy",
        "fetch",
        "package",
        "raw",
        "script",
        "service",
        "template",
        "unarchive",
        "uri",
    }
)
_WAITING_ACTIONS = frozenset({"pause", "wait_for_connection"})


def decide_action(action: str, collection: str, *, is_genuine: bool) -> Decision:
    """What becomes of a task, by its action plugin."""
    if is_genuine and collection in INLINE_COLLECTIONS:
        return _RUN  # decided for each module
    if not is_genuine or collection != "ansible.builtin":
        return Decision(
            Doing.SKIP, "left out", f"`{action}`, an action plugin of the project's own"
        )
    if action in PURE_ACTIONS or action in _BY_MODULE:
        return _RUN
    if action in _WAITING_ACTIONS:
        return Decision(Doing.SKIP, "wait", f"`{action}`")
    if action in _CHECKED_ACTIONS:
        return Decision(Doing.CHECK, "left out", f"`{action}`")
    return Decision(Doing.SKIP, "left out", f"`{action}`")


def decide_module(
    name: str, arguments: Mapping[str, object], environment: Mapping[str, str]
) -> Decision:
    """What becomes of a module, by its full name; `environment` is what the task adds."""
    if not name:
        return Decision(Doing.SKIP, "left out", "a module that is no Python program of Ansible's")
    short = name.removeprefix("ansible.builtin.").removeprefix("ansible.legacy.")
    if short in ("command", "shell"):
        return _decide_command(arguments, environment)
    if name in _API_MODULES:
        if leads := _leads_elsewhere(arguments, environment):
            return Decision(Doing.CHECK, "left out", f"`{name}` with `{leads}`: another cluster")
        return _RUN
    return _OTHERS.get(short) or Decision(Doing.CHECK, "left out", f"`{name}`")


def waits(name: str, arguments: Mapping[str, object]) -> str:
    """What the module would wait for, in words for people; empty where it would not."""
    collection, _, short = name.rpartition(".")
    if collection != "kubernetes.core" or short not in _WAITING_MODULES:
        return ""
    said = arguments.get("wait")
    if said is None:
        is_asked = _WAITING_MODULES[short]
    else:
        is_asked = str(said).lower() in ("true", "yes", "on", "1", "y", "t")
    if not is_asked:
        return ""
    condition = arguments.get("wait_condition")
    wanted = _in_words(condition) if isinstance(condition, Mapping) else "to be ready"
    return f"{_named(arguments)} {wanted}".strip()


def may_wait(name: str) -> bool:
    """Whether the module has the option `wait`."""
    collection, _, short = name.rpartition(".")
    return collection == "kubernetes.core" and short in _WAITING_MODULES


def _decide_command(arguments: Mapping[str, object], environment: Mapping[str, str]) -> Decision:
    command = kind_of_command(arguments)
    if _leads_elsewhere({}, environment):
        command = CommandKind.OTHER
    text = _shortened(str(arguments.get("_raw_params") or arguments.get("cmd") or "a command"))
    match command:
        case CommandKind.OF_CLUSTER:
            return _RUN
        case CommandKind.WAITING:
            return Decision(Doing.CHECK, "wait", f"`{text}`")
        case CommandKind.OTHER:
            return Decision(Doing.CHECK, "left out", f"`{text}`")


def _leads_elsewhere(arguments: Mapping[str, object], environment: Mapping[str, str]) -> str:
    variables = (name for name in sorted(environment) if name.startswith(_ELSEWHERE_PREFIXES))
    return asks_elsewhere(name for name in arguments if arguments[name]) or next(variables, "")


def _named(arguments: Mapping[str, object]) -> str:
    definition = arguments.get("definition") or arguments.get("resource_definition")
    found: Mapping[str, object] = definition if isinstance(definition, Mapping) else {}
    metadata = found.get("metadata")
    about: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    kind = arguments.get("kind") or found.get("kind") or ""
    name = arguments.get("name") or about.get("name") or ""
    return "/".join(str(part) for part in (kind, name) if part) or "what it writes"


def _in_words(condition: Mapping[str, object]) -> str:
    status = condition.get("status", True)
    return f"to have the condition {condition.get('type', '')}={status}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
