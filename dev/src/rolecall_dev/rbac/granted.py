"""Compares what `config/rbac` grants to the operator with what is needed, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.errors import InputError
from rolecall_dev.rbac.kinds import read_plain
from rolecall_dev.rbac.needs import Derived
from rolecall_dev.rbac.rights import Right
from rolecall_dev.sources import as_map, shown

BECAUSE = "rolecall.dev/because"
# What the engine needs whatever is watched, or what the scaffold grants for metrics: may be there.
_GENERAL = frozenset(
    Right(group, resource, verb)
    for group, resource, verbs in (
        ("apiextensions.k8s.io", "customresourcedefinitions", "get list watch"),
        ("", "namespaces", "get list watch"),
        ("", "events", "get create patch"),
        ("coordination.k8s.io", "leases", "get list watch create patch update delete"),
        ("authentication.k8s.io", "tokenreviews", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "create"),
    )
    for verb in verbs.split()
)


@dataclass(frozen=True, slots=True)
class RightsDifference:
    """One rule that grants too much, or one right that is missing."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@dataclass(frozen=True, slots=True)
class _Rule:
    place: str
    rights: tuple[Right, ...]
    is_wide: bool  # bound in the whole cluster


def compare(derived: Derived, folder: Path, cwd: Path) -> list[RightsDifference]:
    """Every difference, missing rights first."""
    if not folder.is_dir():
        raise InputError(
            f"`{folder}` is not a folder, so there are no rights to compare", hint="`rolecall rbac`"
        )
    rules = list(_rules(folder, cwd))
    granted = [right for rule in rules for right in rule.rights]
    everywhere = [right for rule in rules if rule.is_wide for right in rule.rights]
    own = {right: why for right, why in derived.own.reasons.items() if right not in derived.rights}
    found = [
        RightsDifference(
            shown(folder, cwd),
            f"not allowed to {right}{_where(derived, right)}, which is needed by"
            f" {', '.join(reasons[:3])}",
        )
        for right, reasons in sorted([*derived.rights.reasons.items(), *own.items()])
        if not any(
            _covers(grant, right)
            for grant in (everywhere if derived.belongs_to_no_namespace(right) else granted)
        )
    ]
    wanted = {*derived.rights, *_GENERAL}
    for rule in rules:
        here = wanted if rule.is_wide else {*wanted, *own}
        extra = [right for right in rule.rights if right not in here]
        if extra:
            what = ", ".join(str(right) for right in extra)
            found.append(RightsDifference(rule.place, f"allows more than is needed: {what}"))
    return found


def granted_rights(folder: Path) -> frozenset[Right]:
    """All that bindings in the folder give to a service account; empty where there is no folder."""
    rules = _rules(folder, folder, and_unchecked=True) if folder.is_dir() else ()
    return frozenset(right for rule in rules for right in rule.rights)


def is_granted(granted: Iterable[Right], right: Right) -> bool:
    """Whether one of them allows it, by name or by `*`."""
    return any(_covers(grant, right) for grant in granted)


def _where(derived: Derived, right: Right) -> str:
    is_wide = derived.belongs_to_no_namespace(right)
    return " in the whole cluster, by a ClusterRoleBinding" if is_wide else ""


def _rules(folder: Path, cwd: Path, *, and_unchecked: bool = False) -> Iterator[_Rule]:
    """The rules of roles that a binding in the folder gives to a service account."""
    documents = [
        (path, document) for path in sorted(folder.glob("*.y*ml")) for document in read_plain(path)
    ]
    bound: dict[tuple[Any, Any], bool] = {}
    for _, document in documents:
        for reference in _references(document):
            key = (reference.get("kind"), reference.get("name"))
            is_wide = document.get("kind") == "ClusterRoleBinding"
            bound[key] = bound.get(key, False) or is_wide
    for path, document in documents:
        metadata = as_map(document.get("metadata"))
        key = (document.get("kind"), metadata.get("name"))
        if key not in bound:
            continue
        if as_map(metadata.get("annotations")).get(BECAUSE) and not and_unchecked:
            continue
        for number, rule in enumerate(document.get("rules") or [], 1):
            place = f"{shown(path, cwd)}, rule {number}"
            yield _Rule(place, tuple(_rights(as_map(rule))), bound[key])


def _references(document: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    subjects = document.get("subjects") or []
    if any(as_map(subject).get("kind") == "ServiceAccount" for subject in subjects):
        yield as_map(document.get("roleRef"))


def _rights(rule: Mapping[str, Any]) -> Iterator[Right]:
    for group in rule.get("apiGroups") or []:
        for resource in rule.get("resources") or []:
            for verb in rule.get("verbs") or []:
                yield Right(str(group), str(resource), str(verb))


def _covers(grant: Right, right: Right) -> bool:
    _, slash, sub = right.resource.partition("/")
    return (
        grant.group in (right.group, "*")
        and grant.resource in (right.resource, "*", *([f"*/{sub}"] if slash else []))
        and grant.verb in (right.verb, "*")
    )
