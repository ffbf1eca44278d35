"""Whether the RBAC of a project lets the engine do its work, before a cluster says no.

Counts the rules of roles that a binding in the same folder gives to a service account; the editor and
viewer roles for people that a scaffold also makes do not count. What the plays themselves touch is not
looked at: only runs know that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall_dev.checks.crds import CrdVersion
from rolecall_dev.sources import (
    Document,
    Findings,
    as_map,
    containers_of,
    read_folder,
    shown,
)

DEFAULT_FOLDER = Path("config/rbac")


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that must be allowed."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    otherwise: str  # what happens where it is not
    is_vital: bool = True
    is_namespaced: bool = True
    anywhere_will_do: bool = False  # a grant in one namespace is enough
    instead: str = ""  # a verb that serves as well as all of `verbs`

    @property
    def shown(self) -> str:
        """`demos.demo.example.com`, `demos.demo.example.com/status`, `events`."""
        name, slash, sub = self.resource.partition("/")
        return f"{name}.{self.group}{slash}{sub}" if self.group else self.resource


@dataclass(frozen=True, slots=True)
class Grants:
    """What bound roles allow: everywhere, or in some namespace."""

    everywhere: Sequence[Json]
    somewhere: Sequence[Json]
    outside: Sequence[str]  # bound, but their rules are not in the folder


def read_grants(folder: Path, cwd: Path, findings: Findings) -> Grants:
    """Add up what the folder gives to service accounts."""
    documents = [it for it in read_folder(folder, cwd, findings) if isinstance(it.data, dict)]
    roles = {
        (it.data.get("kind"), as_map(it.data.get("metadata")).get("name")): it
        for it in documents
        if it.data.get("kind") in ("Role", "ClusterRole")
    }
    everywhere: list[Json] = []
    somewhere: list[Json] = []
    outside: list[str] = []
    for binding in (it for it in documents if _binds_a_service_account(it)):
        reference = as_map(binding.data.get("roleRef"))
        role = roles.get((reference.get("kind"), reference.get("name")))
        into = everywhere if binding.data["kind"] == "ClusterRoleBinding" else somewhere
        if role is None or role.data.get("aggregationRule"):
            outside.append(str(reference.get("name")))
        else:
            into.extend(as_map(rule) for rule in role.data.get("rules") or [])
    return Grants(everywhere, somewhere, outside)


def _binds_a_service_account(document: Document) -> bool:
    if document.data.get("kind") not in ("ClusterRoleBinding", "RoleBinding"):
        return False
    subjects = document.data.get("subjects") or []
    return any(as_map(subject).get("kind") == "ServiceAccount" for subject in subjects)


def check_rbac(
    folder: Path, needs: Iterable[Need], cwd: Path, *, all_namespaces: bool, findings: Findings
) -> None:
    """Report every needed right that the folder does not grant."""
    grants = read_grants(folder, cwd, findings)
    file = shown(folder, cwd)
    if not (grants.everywhere or grants.somewhere or grants.outside):
        findings.warn(file, None, "binds no role to a service account, so it was not checked")
        return
    too_narrow = []
    for need in needs:
        missing = _missing(need, [*grants.everywhere, *grants.somewhere])
        must_be_everywhere = not need.is_namespaced or (
            all_namespaces and not need.anywhere_will_do
        )
        if missing:
            _report_missing_right(need, missing, grants, file, findings)
        elif must_be_everywhere and _missing(need, grants.everywhere):
            too_narrow.append(f"{', '.join(need.verbs)} `{need.shown}`")
    if too_narrow:
        findings.warn(
            file,
            None,
            "allows only in one namespace, by a RoleBinding, what is needed in all",
            details=too_narrow,
            hint="bind it by a ClusterRoleBinding, or set WATCH_NAMESPACE in the Deployment",
        )


def _report_missing_right(
    need: Need, missing: Sequence[str], grants: Grants, file: str, findings: Findings
) -> None:
    what = f"not allowed to {', '.join(missing)} `{need.shown}`, so {need.otherwise}"
    group = need.group or '""'
    rule = (
        f"add a rule with apiGroups [{group}], resources [{need.resource}],"
        f" verbs [{', '.join(missing)}]"
    )
    if grants.outside or not need.is_vital:
        details = [f"role `{name}` is bound, but is not in this folder" for name in grants.outside]
        findings.warn(file, None, what, details=details, hint=rule)
    else:
        findings.error(file, None, what, hint=rule)


def _missing(need: Need, rules: Sequence[Json]) -> list[str]:
    if need.instead and any(_allows(rule, need, need.instead) for rule in rules):
        return []
    return [verb for verb in need.verbs if not any(_allows(rule, need, verb) for rule in rules)]


def _allows(rule: Json, need: Need, verb: str) -> bool:
    if rule.get("resourceNames"):
        return False
    groups, resources = rule.get("apiGroups") or [], rule.get("resources") or []
    _, slash, sub = need.resource.partition("/")
    names = {"*", need.resource} | ({f"*/{sub}"} if slash else set())
    return (
        bool({"*", need.group} & set(groups))
        and bool(names & set(resources))
        and bool({"*", verb} & set(rule.get("verbs") or []))
    )


def limits_namespaces(project: Path) -> bool:
    """Whether the Deployment limits the engine to certain namespaces."""
    rows = [
        as_map(row)
        for _, _, container in containers_of(project)
        for row in container.get("env") or []
    ]
    given = {row.get("name") for row in rows if row.get("value") or "valueFrom" in row}
    return "WATCH_NAMESPACE" in given


def needs_of(watch: Watch, version: CrdVersion) -> list[Need]:
    """What the engine does to the objects of a watch."""
    group, plural = watch.gvk.group, version.crd.plural
    is_namespaced = version.crd.is_namespaced
    kind = watch.gvk.kind
    needs = [
        Need(
            group,
            plural,
            ("get", "list", "watch"),
            f"no {kind} will be reconciled",
            is_namespaced=is_namespaced,
        ),
        Need(
            group,
            f"{plural}/finalizers",
            ("update",),
            "owner references may be refused, where the cluster enforces this",
            is_vital=False,
            is_namespaced=is_namespaced,
        ),
    ]
    if watch.finalizer is not None:
        otherwise = f"the finalizer of {kind} can neither be set nor removed"
        needs.append(_to_write(group, plural, otherwise, is_namespaced=is_namespaced))
    if watch.manage_status:
        otherwise = f"no {kind} will have a status"
        status = f"{plural}/status"
        needs.append(_to_write(group, status, otherwise, is_namespaced=is_namespaced))
    return needs


def _to_write(group: str, resource: str, otherwise: str, *, is_namespaced: bool) -> Need:
    """What writing takes: the Go operator updates, and roles made for it may allow that alone."""
    return Need(
        group, resource, ("patch",), otherwise, is_namespaced=is_namespaced, instead="update"
    )


def needs_of_core_kind(kind: str) -> list[Need]:
    """What the engine does to objects of a core kind; the plural is a guess, so only a warning."""
    name = kind.lower()
    plural = name if name.endswith("s") else f"{name}s"
    verbs = ("get", "list", "watch")
    return [Need("", plural, verbs, f"no {kind} will be reconciled", is_vital=False)]


def needs_of_stores(watches: Sequence[Watch]) -> list[Need]:
    """What keeping things takes, in the operator's namespace; the first kind stands for all."""
    needs = {
        kept.what: Need(
            *kept.resource, kept.verbs, kept.otherwise, is_vital=False, anywhere_will_do=True
        )
        for watch in reversed(watches)
        for kept in watch.kept_things
    }
    return list(reversed(needs.values()))


def general_needs() -> list[Need]:
    """What the engine does whatever it watches."""
    return [
        Need("", "events", ("create", "patch"), "no Events can be posted", is_vital=False),
        Need(
            "coordination.k8s.io",
            "leases",
            ("get", "create", "update"),
            "--leader-elect will not work",
            is_vital=False,
            anywhere_will_do=True,
        ),
    ]
