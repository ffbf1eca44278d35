"""Ten ways to break a new operator, each as a person would do it by mistake."""

from __future__ import annotations

from dataclasses import dataclass, field

APPLY = "roles/website/tasks/apply.yml"
REMOVE = "roles/website/tasks/remove.yml"


@dataclass(frozen=True)
class Breakage:
    """What is broken, and where its user must read about it."""

    what: str
    files: dict[str, str]
    checked: str = ""  # what `rolecall check` says before anything runs; empty: it cannot know
    described: tuple[str, ...] = ()  # in `kubectl describe`: conditions and Events
    logged: tuple[str, ...] = ()  # on one line of the log
    listed: tuple[str, ...] = ()  # in `rolecall status`
    got: str = ""  # in `kubectl get -o wide`
    is_deleted: bool = False  # its user deletes the custom resource as well
    annotations: dict[str, str] = field(default_factory=dict)


def _config_map(*, kind: str = "ConfigMap", version: str = "v1", more: str = "") -> str:
    return f"""---
- name: Apply | write the page
  kubernetes.core.k8s:
    state: present
    definition:
      apiVersion: {version}
      kind: {kind}
      metadata:
        name: "{{{{ ansible_operator_meta.name }}}}-page"
        namespace: "{{{{ ansible_operator_meta.namespace }}}}"
{more}"""


BREAKAGES = [
    Breakage(
        what="An error in YAML",
        files={APPLY: "---\n- name: Apply | write the page\n  debug:\n   msg: [hello\n"},
        checked=f"{APPLY}:",
        described=(f"{APPLY}:",),
        logged=("run failed", f"{APPLY}:"),
        listed=("state   failed",),
    ),
    Breakage(
        what="An undefined variable",
        files={
            APPLY: "---\n- name: Apply | greet\n  ansible.builtin.debug:\n"
            '    msg: "{{ website_mesage }}"\n'
        },
        checked="website_mesage",
        described=("website_mesage", f"{APPLY}:2"),
        logged=("run failed", "website_mesage", f"{APPLY}:2"),
        listed=("state   failed", "website_mesage"),
    ),
    Breakage(
        what="A wrong argument of a module",
        files={APPLY: "---\n- name: Apply | greet\n  ansible.builtin.debug:\n    mesage: hello\n"},
        checked="mesage",
        described=("mesage", f"{APPLY}:2"),
        logged=("run failed", "mesage", f"{APPLY}:2"),
        listed=("state   failed", "mesage"),
    ),
    Breakage(
        what="A collection that is not installed",
        files={
            APPLY: "---\n- name: Apply | make a bucket\n  amazon.aws.s3_bucket:\n    name: pages\n"
        },
        checked="amazon.aws",
        described=("amazon.aws", "requirements.yml"),
        logged=("run failed", "amazon.aws", "requirements.yml"),
        listed=("state   failed", "amazon.aws"),
    ),
    Breakage(
        what="An API group that is not there",
        files={APPLY: _config_map(kind="Deployment", version="apps/v7")},
        checked="apps/v7",
        described=("apps/v7", f"{APPLY}:2"),
        logged=("run failed", "apps/v7"),
        listed=("state   failed", "apps/v7"),
    ),
    Breakage(
        what="A right that is missing",
        files={APPLY: _config_map(kind="Secret", more="      stringData: {page: hello}\n")},
        described=("secrets", "rolecall rbac", "resources"),
        logged=("run failed", "secrets", "rolecall rbac"),
        listed=("state   failed", "secrets", "rolecall rbac"),
    ),
    Breakage(
        what="A role that hangs",
        files={
            APPLY: "---\n- name: Apply | wait for the database\n  ansible.builtin.command: sleep 25\n"
        },
        described=("Apply | wait for the database", f"{APPLY}:2"),
        listed=("running", "wait for the database"),
        got="Running task `Apply | wait for the database`",
    ),
    Breakage(
        what="A role that never settles",
        files={
            APPLY: _config_map(more="      data: {written: \"{{ now(fmt='%H:%M:%S.%f') }}\"}\n")
        },
        described=("NotConverging", "Apply | write the page"),
        listed=("ready",),
        # Nothing asks for a run here; every second is what five runs in a row need to be soon.
        annotations={"ansible.sdk.operatorframework.io/reconcile-period": "1s"},
    ),
    Breakage(
        what="A finalizer that fails",
        files={
            REMOVE: "---\n- name: Remove | close the account\n  ansible.builtin.fail:\n"
            "    msg: the bank said no\n"
        },
        described=("deletion waits", "the bank said no"),
        logged=("run failed", "the bank said no"),
        listed=("state   failed", "the bank said no"),
        is_deleted=True,
    ),
]
