"""Which tasks of a play that only plans run, and how: pure rules, no Ansible in sight.

What speaks with the API server alone runs as ever: the proxy answers it from the plan's world. What
only computes or reads runs as ever. What is known to change files of this machine alone runs in
Ansible's check mode, which says whether it would. All else is *unknown*: it is not run, and the plan
says so.
Nothing waits: what a task would wait for has not happened, and will not during a plan.

Unknown means acting. So does everything that is not local to the play: another host, another
connection, another user, another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from rolecall_base.purity import Nature, Used, asks_elsewhere, purity_of
from rolecall_warm.hooks.cluster_commands import CommandKind, judge_command
from rolecall_warm.hooks.ways import INLINE_COLLECTIONS, PURE_ACTIONS


class Doing(Enum):
    """What becomes of a task, or of a module that it runs."""

    RUN = "run"
    CHECK = "check"  # in Ansible's check mode
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Decision:
    doing: Doing
    kind: str = (
        ""  # of the note for the plan: `wait`, `unknown`, `left out`; empty: nothing to note
    )
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
        "rolecall.operator.decide",
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
# Read in check mode, and there is nothing to note.
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
# Change files of this machine, and in check mode say whether they would.
_FILE_MODULES = frozenset({"assemble", "blockinfile", "copy", "file", "lineinfile", "replace"})
_OTHERS = {
    "operator_sdk.util.osdk_metric": Decision(Doing.SKIP, "left out", "`osdk_metric`"),
    "wait_for": Decision(Doing.SKIP, "wait", "`wait_for`"),
}
# Other names of the arguments by which a module leaves the way through the proxy.
_ELSEWHERE_ALIASES = frozenset({"cert_file", "key_file", "kube_context", "kubeconfig_path"})
_ELSEWHERE_PREFIXES = (
    "ALL_PROXY",
    "HELM",
    "HTTP",
    "K8S_AUTH_",
    "KUBE",
    "LD_",
    "NO_PROXY",
    "PATH",
    "PYTHON",
)
# Of a command's environment, all that is known to lead nowhere.
_HARMLESS_VARIABLES = frozenset({"LANG", "LC_ALL", "NO_COLOR", "TERM", "TZ"})
# Arguments that name files, or what a server of another kind sends.
_OF_FILES = ("src", "template", "values_files")
# With these, helm runs a program, or downloads.
_HELM_ACTING = (
    "binary_path",
    "chart_repo_url",
    "dep_up",
    "dependency_update",
    "plugin_path",
    "post_renderer",
    "update_repo_cache",
)
# Decided for each module that the action runs.
_BY_MODULE = frozenset({"command", "gather_facts", "normal", "shell"})
# Actions of ansible-core that keep to check mode, read for it.
_CHECKED_ACTIONS = frozenset({"assemble", "copy", "template"})
_WAITING_ACTIONS = frozenset({"pause", "wait_for_connection"})
_LOCAL_HOSTS = frozenset({"", "127.0.0.1", "::1", "localhost"})


def elsewhere(*, connection: str, host: str, play_host: str, is_become: bool) -> str:
    """Why a task is not local to the play; empty: it is.

    `connection` is the task's where it is not the local one, `host` that to which it is delegated.
    """
    if connection:
        return f"the connection `{connection}`"
    if host not in _LOCAL_HOSTS and host != play_host:
        return f"delegated to `{host}`"
    return "another user, by `become`" if is_become else ""


def decide_action(
    action: str, collection: str, *, is_genuine: bool, elsewhere: str = ""
) -> Decision:
    """What becomes of a task, by its action plugin."""
    is_core = is_genuine and collection == "ansible.builtin"
    if is_core and action in _WAITING_ACTIONS:
        return Decision(Doing.SKIP, "wait", f"`{action}`")
    if is_core and action in PURE_ACTIONS:
        return _RUN
    if elsewhere:
        return _unknown(f"`{action}` is not local: {elsewhere}")
    if (is_core and action in _BY_MODULE) or (is_genuine and collection in INLINE_COLLECTIONS):
        return _RUN  # decided for each module
    if is_core and action in _CHECKED_ACTIONS:
        return Decision(Doing.CHECK, "unknown", f"`{action}` changes a file, and was not run")
    return _unknown(f"`{action}`" if is_core else f"`{action}`, an action plugin that is not known")


def decide_module(
    name: str, arguments: Mapping[str, object], environment: Mapping[str, str], shown: str = ""
) -> Decision:
    """What becomes of a module, by its full name; `environment` is what the task adds.

    A module without a full name is the project's own; `shown` is its name in the task.
    """
    short = name.removeprefix("ansible.builtin.")
    if short in ("command", "shell"):
        return _decide_command(arguments, environment)
    if name in _API_MODULES:
        leads = _leads_elsewhere(name, arguments, environment)
        return _unknown(f"`{name}` with `{leads}`") if leads else _RUN
    if short in _READING_MODULES and not arguments.get("fact_path"):
        return Decision(Doing.CHECK)
    if short in _FILE_MODULES:
        return Decision(Doing.CHECK, "unknown", f"`{short}` changes a file, and was not run")
    what = f"`{name}`" if name else f"`{shown or 'a module'}`, a module that is not known"
    return _OTHERS.get(short) or _unknown(what)


def why_no_lookup(name: str, arguments: Mapping[str, object], shown: str = "") -> str:
    """Why a plan does not run a lookup, by its full name; empty: it runs."""
    if not name:
        return f"lookup `{shown}` is not known"
    purity = purity_of(Used.LOOKUP, name)
    if purity.nature is Nature.ACTING:
        return f"lookup `{name.removeprefix('ansible.builtin.')}` {purity.reason}"
    if name == "kubernetes.core.k8s" and (leads := _leads_elsewhere(name, arguments, {})):
        return f"lookup `{name}` with `{leads}`"
    return ""


def waits(name: str, arguments: Mapping[str, object]) -> str:
    """What the module would wait for, in words for people; empty where it would not."""
    if not may_wait(name):
        return ""
    said = [arguments.get(option) for option in ("wait", "atomic") if option in arguments]
    if not any(value is not None for value in said):
        is_asked = _WAITING_MODULES[name.rpartition(".")[2]]
    else:
        is_asked = any(str(v).lower() in ("true", "yes", "on", "1", "y", "t") for v in said)
    if not is_asked:
        return ""
    condition = arguments.get("wait_condition")
    wanted = _in_words(condition) if isinstance(condition, Mapping) else "to be ready"
    return f"{_named(arguments)} {wanted}".strip()


def may_wait(name: str) -> bool:
    """Whether the module has the option `wait`."""
    collection, _, short = name.rpartition(".")
    return collection == "kubernetes.core" and short in _WAITING_MODULES


def without_waiting(name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a module that may wait, so that it does not."""
    changed = {**arguments, "wait": False}
    if name == "kubernetes.core.helm":
        changed["atomic"] = False
    return changed


def _unknown(what: str) -> Decision:
    return Decision(Doing.SKIP, "unknown", what)


def _decide_command(arguments: Mapping[str, object], environment: Mapping[str, str]) -> Decision:
    argv = arguments.get("argv")
    words = " ".join(str(word) for word in argv) if isinstance(argv, list | tuple) else ""
    text = _shortened(str(arguments.get("_raw_params") or arguments.get("cmd") or words))
    if strange := sorted(set(environment) - _HARMLESS_VARIABLES):
        return _unknown_command(text, f"`{strange[0]}` in its `environment`")
    judged = judge_command(arguments)
    match judged.kind:
        case CommandKind.OF_CLUSTER:
            return _RUN
        case CommandKind.WAITING:
            return Decision(Doing.CHECK, "wait", f"`{text}`")
        case CommandKind.OTHER:
            return _unknown_command(text, judged.why)


def _unknown_command(text: str, why: str) -> Decision:
    # The module's own check mode runs no program, and gives the fields that later tasks may read.
    return Decision(Doing.CHECK, "unknown", f"`{text}`: {why}")


def _leads_elsewhere(
    name: str, arguments: Mapping[str, object], environment: Mapping[str, str]
) -> str:
    given = [argument for argument in arguments if arguments[argument]]
    found = (
        asks_elsewhere(given)
        or min(_ELSEWHERE_ALIASES.intersection(given), default="")
        or next((each for each in _OF_FILES if "://" in str(arguments.get(each) or "")), "")
        or next((v for v in sorted(environment) if v.upper().startswith(_ELSEWHERE_PREFIXES)), "")
    )
    if found or not name.startswith("kubernetes.core.helm"):
        return found
    chart = str(arguments.get("chart_ref") or "")
    if chart and not chart.startswith((".", "/")):
        return "chart_ref"
    return next((each for each in _HELM_ACTING if arguments.get(each)), "")


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
