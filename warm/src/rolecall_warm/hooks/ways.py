"""The four ways a task can run here, and what decides between them. Pure rules, no Ansible in sight.

A task has an *action* (code that runs beside the play) and mostly a *module* (the program it starts).
An action of ours runs inline in the run child, or in a worker forked as Ansible forks it. A module runs
in-process, in one fork, or as plain Ansible runs it: packed, through a shell, in a new
interpreter. The last is always right, so every rule here is a reason *not* to be faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Way(Enum):
    """How a task was run; the values are the label of `rolecall_tasks_total`."""

    INLINE = "inline"  # no process of its own, no module
    IN_PROCESS = "in-process"  # the module ran in the run child
    FORKED = "forked"  # one fork of warm imports
    STOCK = "stock"  # as ansible-core does it


@dataclass(frozen=True, slots=True)
class Choice:
    way: Way
    reason: str


# Actions that only compute: they open no connection and start nothing.
PURE_ACTIONS = frozenset(
    {
        "add_host",
        "assert",
        "debug",
        "fail",
        "group_by",
        "include",  # include_tasks, include_role: the play does the including
        "include_vars",
        "set_fact",
        "set_stats",
        "validate_argument_spec",
    }
)

# Actions of ansible-core that work through the connection alone, read for surprises. Not here: pause
# (asks the terminal), reboot and wait_for_connection (about other machines), async_status, and the
# package managers (they respawn).
WORKING_ACTIONS = frozenset(
    {
        "assemble",
        "command",
        "copy",
        "fetch",
        "gather_facts",
        "normal",
        "raw",
        "script",
        "service",
        "shell",
        "template",
        "unarchive",
        "uri",
    }
)

# Collections whose action plugins run inline; where they come from is checked, not only their name.
INLINE_COLLECTIONS = frozenset({"kubernetes.core", "operator_sdk.util", "rolecall.operator"})

# Modules that may share the run child: read for what they leave behind in a process.
IN_PROCESS_MODULES = frozenset(
    {
        "kubernetes.core.k8s",
        "kubernetes.core.k8s_cluster_info",
        "kubernetes.core.k8s_info",
        "kubernetes.core.k8s_json_patch",
        "kubernetes.core.k8s_log",
        "kubernetes.core.k8s_rollback",
        "kubernetes.core.k8s_scale",
        "kubernetes.core.k8s_service",
        "operator_sdk.util.k8s_event",
        "operator_sdk.util.k8s_status",
        "operator_sdk.util.osdk_metric",
        "operator_sdk.util.requeue_after",
        "rolecall.operator.report",
    }
)


@dataclass(frozen=True, slots=True)
class ActionFacts:
    action: str  # the resolved plugin's short name; `normal` where the task names a module only
    collection: str  # `ansible.builtin`, `kubernetes.core` ...; empty: of no known collection
    is_genuine: bool  # the plugin's file lies where that collection is installed
    is_alone: bool  # one host in the batch
    is_async: bool
    is_become: bool
    is_local: bool
    is_builtin_strategy: bool
    has_debugger: bool
    asks_play: bool  # while it runs


def choose_action(facts: ActionFacts) -> Choice:
    """Inline, or a worker as Ansible forks it (STOCK); the reason is for people."""
    for is_hindered, reason in (
        (not facts.is_builtin_strategy, "the play's strategy is not ansible-core's own"),
        (not facts.is_alone, "several hosts in one batch run side by side"),
        (facts.has_debugger, "the task debugger is on"),
        (facts.is_async, "`async` needs a process of its own"),
        (facts.asks_play, f"`{facts.action}` asks the play while it runs"),
        (not facts.is_genuine, f"`{facts.action}` is an action plugin of the project's own"),
    ):
        if is_hindered:
            return Choice(Way.STOCK, reason)
    if facts.action in PURE_ACTIONS and facts.collection == "ansible.builtin":
        return Choice(Way.INLINE, "only computes")
    return _choose_working(facts)


def _choose_working(facts: ActionFacts) -> Choice:
    if facts.is_become:
        return Choice(Way.STOCK, "`become` changes the user")
    if not facts.is_local:
        return Choice(Way.STOCK, "the connection is not `local`")
    if facts.action in WORKING_ACTIONS and facts.collection == "ansible.builtin":
        return Choice(Way.INLINE, "works through the local connection")
    if facts.collection in INLINE_COLLECTIONS:
        return Choice(Way.INLINE, f"an action of `{facts.collection}`")
    return Choice(Way.STOCK, f"action `{facts.action}` was not read for running inline")


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    name: str  # full, where it has one
    is_new_python: bool
    can_respawn: bool
    is_async: bool
    is_become: bool
    is_local: bool
    has_timeout: bool
    is_verbose: bool
    is_kept: bool  # ANSIBLE_KEEP_REMOTE_FILES, ANSIBLE_DEBUG or ANSIBLE_DISPLAY_TRACEBACK
    has_extension: bool  # coverage or a debugger
    has_limit: bool  # PYTHON_MODULE_RLIMIT_NOFILE
    has_module_utils: bool  # the project has module_utils of its own
    is_our_python: bool
    changes_python: bool  # the task's `environment` has what only a new interpreter takes notice of


# Read by the interpreter, the loader or the C library when a process begins.
START_VARIABLES = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC_", "OPENSSL_", "SSL_CERT_")


def choose_module(facts: ModuleFacts) -> Choice:
    """In-process, in one fork, or packed as Ansible does it, with the first reason for it."""
    for is_hindered, reason in (
        (not facts.is_new_python, "not a new-style Python module"),
        (facts.is_async, "`async` needs a process of its own"),
        (facts.is_become, "`become` changes the user"),
        (not facts.is_local, "the connection is not `local`"),
        (
            not facts.is_our_python,
            "`ansible_python_interpreter` is another Python than the operator's",
        ),
        (facts.changes_python, "`environment` has variables of the Python interpreter"),
        (facts.has_timeout, "`timeout` may interrupt it"),
        (facts.is_verbose, "with verbosity 3 or more, Ansible shows each command that it starts"),
        (facts.is_kept, "remote files are kept, or debug or tracebacks are on"),
        (facts.has_extension, "coverage or a debugger is attached"),
        (facts.has_limit, "a limit of open files is set for modules"),
        (facts.has_module_utils, "the project has `module_utils` of its own"),
        (facts.can_respawn, "the module may start itself again under another Python"),
    ):
        if is_hindered:
            return Choice(Way.STOCK, reason)
    if facts.name in IN_PROCESS_MODULES:
        return Choice(Way.IN_PROCESS, "read, and safe to share a process")
    return Choice(Way.FORKED, "a new-style Python module")
