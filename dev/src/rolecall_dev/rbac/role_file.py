"""Writes rights as a Role or ClusterRole that a person can review: each rule with its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rolecall_dev.rbac.kinds import read_plain
from rolecall_dev.rbac.rights import COMMENT, Rights, reaches_into_pods
from rolecall_dev.sources import filled_in

_SHOWN = 4  # reasons of a rule that are named one by one
_LONGEST = 110
_TEMPLATES = Path(__file__).parent / "templates"


def render_role(rights: Rights, name: str, *, is_cluster_wide: bool) -> str:
    """The file. The scaffold's mark stays, for kinds that come later."""
    metadata = f"name: {name}" + ("" if is_cluster_wide else "\n  namespace: system")
    kind = "ClusterRole" if is_cluster_wide else "Role"
    rules = "".join(f"{line}\n" for line in rules_of(rights))
    return _filled("role", kind=kind, metadata=metadata, rules=rules)


def render_cluster_role(rights: Rights, name: str) -> str:
    """The file beside a Role, for kinds that belong to no namespace."""
    return _filled("cluster_role", name=name, rules=_field(rights))


def _filled(template: str, **values: str) -> str:
    return filled_in((_TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8"), values)


def _field(rights: Rights) -> str:
    """The whole field `rules`."""
    lines = ["rules:", *rules_of(rights)] if rights.reasons else ["rules: []"]
    return "".join(f"{line}\n" for line in lines)


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


# Writes the Role and its binding for the data that the engine keeps in the operator's own namespace.
# It has its own file, and is never a part of the operator's other rights: those are valid in all
# watched namespaces, where the engine must not access ConfigMaps.

STORE_FILE = "store_role.yaml"
_ACCOUNT = ("controller-manager", "system")


def render_store_role(rights: Rights, name: str, account: tuple[str, str]) -> str:
    """Role and RoleBinding; `account`: name and namespace of the operator's service account."""
    return _filled(
        "store_role",
        name=name,
        binding=f"{name}binding" if name.endswith("-role") else name,
        rules=_field(rights),
        account=account[0],
        namespace=account[1],
    )


def account_in(folder: Path) -> tuple[str, str]:
    """The service account that the folder's bindings are for, and its namespace."""
    for path in sorted(folder.glob("*.y*ml")):
        for document in read_plain(path):
            for subject in _subjects(document):
                if subject.get("kind") == "ServiceAccount" and subject.get("name"):
                    return str(subject["name"]), str(subject.get("namespace") or _ACCOUNT[1])
    return _ACCOUNT


def _subjects(document: dict[str, Any]) -> Iterable[dict[str, Any]]:
    if document.get("kind") not in ("RoleBinding", "ClusterRoleBinding"):
        return []
    return [it for it in document.get("subjects") or [] if isinstance(it, dict)]
