"""Writes rights as a Role or ClusterRole that a person can review: each rule with its reasons."""

from __future__ import annotations

from rolecall_dev.rbac.far_reaching import COMMENT, reaches_into_pods
from rolecall_dev.rbac.rights import Rights

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
