"""`prune` in watches.yaml."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Self

import yaml

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.extensions.prune.partial_runs import partial_by
from rolecall.extensions.prune.store import INVENTORY_VERBS
from rolecall.gvk import Gvk
from rolecall.watches import EntryContext, ExtensionKeys, KeptThings, read_kinds

_MAKING = frozenset({"create", "update", "patch"})
# Deleting one of these may lose data, or other objects with it.
_ONLY_WHERE_NAMED = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "namespaces"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
    }
)
# Others that end in `.k8s.io` are CRDs, and some of those hold data: snapshots of volumes, for one.
_BUILT_IN = frozenset(
    {"", "apps", "batch", "autoscaling", "policy", "extensions"}
    | {
        f"{group}.k8s.io"
        for group in (
            *("admissionregistration", "apiextensions", "apiregistration", "certificates"),
            *("coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node"),
            *("rbac.authorization", "resource", "scheduling", "storage"),
        )
    }
)
_INSIDE = (
    YamlKey(
        "kinds",
        Form.KINDS,
        "",
        "claims, namespaces, custom resources and the like that may be deleted too",
    ),
    YamlKey(
        "foreground",
        Form.TRUTH,
        "false",
        "what an object owns goes before it (`propagationPolicy: Foreground`)",
    ),
    YamlKey(
        "evenIfListed",
        Form.TRUTH,
        "false",
        "delete also what the run saw in a list, though it neither wrote nor read it by name",
    ),
    YamlKey(
        "report",
        Form.TRUTH,
        "false",
        "report what would be deleted, and delete nothing; `prune: report` is the same",
    ),
    YamlKey(
        "goodRuns",
        Form.WHOLE,
        "2",
        "how many good runs in a row must not want an object before it is deleted",
    ),
    YamlKey(
        "limitPercent",
        Form.WHOLE,
        "30",
        "a run that would delete more than this share of the CR's objects, and more than three, deletes"
        " none and warns",
    ),
    YamlKey(
        "fleetLimit",
        Form.WHOLE,
        "50",
        "how many objects of all CRs of the watch may be deleted within an hour; a run that would"
        " delete more deletes none and warns. 0: no limit",
    ),
    YamlKey(
        "tasks",
        Form.TEXTS,
        "",
        "names of tasks that run a program (`command`, `shell`, `helm` ...) and whose objects may be"
        " deleted too, since the program asks for all of them in each run",
    ),
)


@dataclass(frozen=True, slots=True)
class Prune(ExtensionKeys):
    """What may be deleted once a run no longer wants it."""

    keys = (
        YamlKey(
            "prune",
            Form.TRUTH_KINDS_OR_MAP,
            "false",
            "delete what an earlier run made and the last one no longer wants; a list names kinds that"
            " are deleted only where they are named; `report` is a map with `report: true`",
            is_ours=True,
            choices=("report",),
            inside=_INSIDE,
        ),
    )
    purpose = "pruning"

    kinds: frozenset[Gvk] = frozenset()  # deleted only where they are named, such as claims
    is_foreground: bool = False
    even_if_listed: bool = False  # also what the run saw in a list
    is_report: bool = False  # say what would be deleted, and delete nothing
    good_runs: int = 2  # in a row, that must not want an object before it is deleted
    limit_percent: int = 30  # of what a CR has; a run that would delete more deletes nothing
    fleet_limit: int = 50  # of all CRs of the watch within an hour, as for one run; 0: none
    tasks: frozenset[str] = frozenset()  # that run programs, and ask for all they want in each run

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:  # noqa: ARG003 - no plays
        node = fields.node_of("prune")
        if isinstance(node, yaml.SequenceNode):
            return cls(read_kinds(node.value, "prune", report))
        if isinstance(node, yaml.ScalarNode) and node.value == "report":
            return cls(is_report=True)
        if not isinstance(node, yaml.MappingNode):
            return cls() if fields.truth("prune") else None
        inner = Fields(node, _INSIDE, report)
        usual = cls()
        good_runs, limit = inner.whole("goodRuns"), inner.whole("limitPercent")
        fleet_limit = inner.whole("fleetLimit")
        return cls(
            is_report=bool(inner.truth("report")),
            good_runs=usual.good_runs if good_runs is None else max(1, good_runs),
            limit_percent=usual.limit_percent if limit is None else max(0, limit),
            fleet_limit=usual.fleet_limit if fleet_limit is None else max(0, fleet_limit),
            kinds=read_kinds(inner.items("kinds"), "prune.kinds", report),
            is_foreground=bool(inner.truth("foreground")),
            even_if_listed=bool(inner.truth("evenIfListed")),
            tasks=frozenset(inner.texts("tasks")),
        )

    @property
    def named_kinds(self) -> frozenset[Gvk]:
        return self.kinds

    def kept_of(self, kind: str) -> KeptThings:
        return KeptThings("inventories", INVENTORY_VERBS, f"nothing of {kind} will be pruned")

    def stopped_by(self, ansible_args: str) -> str:
        return partial_by(ansible_args, {})

    def verbs_after(
        self, verbs: Set[str], resource: tuple[str, str], *, is_named: bool
    ) -> tuple[str, ...]:
        may_go = is_named or not must_be_named(*resource)
        return ("get", "delete") if may_go and verbs & _MAKING else ()


def must_be_named(group: str, resource: str) -> bool:
    """Whether objects of a kind are deleted only where the watch names it."""
    return group not in _BUILT_IN or (group, resource) in _ONLY_WHERE_NAMED
