"""Writes the Role for what the engine keeps in the operator's own namespace, with its binding.

A file of its own, never a part of the operator's other rights: these hold wherever CRs are watched, and
nobody's ConfigMaps there are the engine's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rolecall_dev.rbac.rights import Rights
from rolecall_dev.rbac.role_file import rules_of
from rolecall_dev.rbac.texts import read_plain

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
