"""Writes rights as a Role or ClusterRole that a person can review: each rule with its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rolecall_dev.rbac.kinds import read_plain
from rolecall_dev.rbac.rights import COMMENT, Rights, reaches_into_pods

_SHOWN = 4  # reasons of a rule that are named one by one
_LONGEST = 110


_WRITTEN = (
    "Written by `rolecall rbac` from what",
    "# they do; rights that it cannot know of belong into a role of their own, with the annotation",
    "# `rolecall.dev/because` that says why.",
)


def render_role(rights: Rights, name: str, *, is_cluster_wide: bool) -> str:
    """The file. The scaffold's mark stays, for kinds that come later."""
    lines = [
        "---",
        f"# What the roles of this project need, and nothing more. {_WRITTEN[0]}",
        *_WRITTEN[1:],
        "apiVersion: rbac.authorization.k8s.io/v1",
        f"kind: {'ClusterRole' if is_cluster_wide else 'Role'}",
        "metadata:",
        f"  name: {name}",
        *([] if is_cluster_wide else ["  namespace: system"]),
        "rules:",
    ]
    return "\n".join([*lines, *rules_of(rights), "# +kubebuilder:scaffold:rules"]) + "\n"


def render_cluster_role(rights: Rights, name: str) -> str:
    """The file beside a Role, for kinds that belong to no namespace."""
    lines = [
        "---",
        "# What the roles of this project need of kinds that belong to no namespace. A Role",
        f"# cannot grant it. {_WRITTEN[0]}",
        *_WRITTEN[1:],
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        f"  name: {name}",
        *(["rules:", *rules_of(rights)] if rights.reasons else ["rules: []"]),
    ]
    return "\n".join(lines) + "\n"


def rules_of(rights: Rights) -> list[str]:
    """Lines of rules, each with its reasons."""
    lines: list[str] = []
    for (group, resource), verbs in rights.by_resource().items():
        lines += _comment(rights.reasons_for(group, resource))
        if reaches_into_pods(group, resource):
            lines += [f"  # {line}" for line in COMMENT]
        quoted = group or '""'
        lines.append(f"  - apiGroups: [{quoted}]")
        lines.append(f"    resources: [{resource}]")
        lines.append(f"    verbs: [{', '.join(verbs)}]")
    return lines


def _comment(reasons: list[str]) -> list[str]:
    """Reasons as comment lines. Places lose their line numbers, so that an edit changes no rule."""
    files = list(dict.fromkeys(reason.rpartition(":")[0] or reason for reason in reasons))
    files.sort(key=lambda it: "/" in it)
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    lines: list[str] = []
    for word in (", ".join(files[:_SHOWN]) + more).split(" "):
        if lines and len(lines[-1]) + len(word) < _LONGEST:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  # {word}")
    return lines


# Writes the Role for what the engine keeps in the operator's own namespace, with its binding.
# A file of its own, never a part of the operator's other rights: these hold wherever CRs are watched,
# and nobody's ConfigMaps there are the engine's business.

STORE_FILE = "store_role.yaml"
_ACCOUNT = ("controller-manager", "system")
_API = "rbac.authorization.k8s.io"


def render_store_role(rights: Rights, name: str, account: tuple[str, str]) -> str:
    """Role and RoleBinding; `account`: name and namespace of the operator's service account."""
    account_name, namespace = account
    lines = [
        "---",
        "# What the engine keeps in the operator's own namespace for `prune` and `skipUnchanged`.",
        "# Written by `rolecall rbac` from watches.yaml.",
        f"apiVersion: {_API}/v1",
        "kind: Role",
        *_metadata(name, namespace),
        *(["rules:", *rules_of(rights)] if rights.reasons else ["rules: []"]),
        "---",
        f"apiVersion: {_API}/v1",
        "kind: RoleBinding",
        *_metadata(f"{name}binding" if name.endswith("-role") else name, namespace),
        "roleRef:",
        f"  apiGroup: {_API}",
        "  kind: Role",
        f"  name: {name}",
        "subjects:",
        "  - kind: ServiceAccount",
        f"    name: {account_name}",
        f"    namespace: {namespace}",
    ]
    return "\n".join(lines) + "\n"


def account_in(folder: Path) -> tuple[str, str]:
    """The service account that the folder's bindings are for, and its namespace."""
    for path in sorted(folder.glob("*.y*ml")):
        for document in read_plain(path):
            for subject in _subjects(document):
                if subject.get("kind") == "ServiceAccount" and subject.get("name"):
                    return str(subject["name"]), str(subject.get("namespace") or _ACCOUNT[1])
    return _ACCOUNT


def _metadata(name: str, namespace: str) -> list[str]:
    return ["metadata:", f"  name: {name}", f"  namespace: {namespace}"]


def _subjects(document: dict[str, Any]) -> Iterable[dict[str, Any]]:
    if document.get("kind") not in ("RoleBinding", "ClusterRoleBinding"):
        return []
    return [it for it in document.get("subjects") or [] if isinstance(it, dict)]
