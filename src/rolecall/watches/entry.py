"""One entry of watches.yaml becomes one `Watch`, or problems in the report.

Order of saying what goes first: the entry, where it says something; then the environment's word on the
kind; then the flags. A zero period or artifact count is no word at all, as in the Go operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import yaml

from rolecall.gvk import Gvk
from rolecall.watches.document import NOTHING
from rolecall.watches.expansion import unset_names
from rolecall.watches.fields import Fields
from rolecall.watches.keys import ENTRY_KEYS, FINALIZER_KEYS, KIND_KEYS
from rolecall.watches.locate import find_role, playbook_path, role_candidates
from rolecall.watches.model import Finalizer, Play, Selector, Watch
from rolecall.watches.overrides import WatchDefaults, concurrency, variable_name, verbosity
from rolecall.watches.report import Report
from rolecall.watches.selectors import is_qualified_name, read_selector


class AddProblem(Protocol):
    """How a fault is told: as an error or as a warning."""

    def __call__(
        self, line: int | None, what: str, *, details: Sequence[str] = (), hint: str = ""
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class EntryContext:
    """All that an entry's meaning depends on besides its own text."""

    environment: Mapping[str, str]
    defaults: WatchDefaults
    cwd: Path
    project: Path  # the folder with watches.yaml


def read_entry(node: yaml.MappingNode, context: EntryContext, report: Report) -> Watch:
    """Read one entry; the result is only worth something where nothing was reported."""
    fields = Fields(node, ENTRY_KEYS, report)
    gvk = _read_kind(fields)
    _check_kind(gvk, fields, report)
    _warn_without_effect(gvk, fields, report)
    play = _read_play(fields, context, report.error, report.warn)
    period_s = fields.duration("reconcilePeriod")
    selector = fields.submap("selector")
    return Watch(
        gvk=gvk,
        play=play,
        line=fields.line,
        vars=fields.data("vars"),
        finalizer=_read_finalizer(fields, context, report),
        selector=Selector() if selector is None else read_selector(selector, report),
        blacklist=_read_blacklist(fields, report),
        reconcile_period_s=period_s or context.defaults.reconcile_period_s,
        max_runner_artifacts=fields.whole("maxRunnerArtifacts")
        or context.defaults.max_runner_artifacts,
        verbosity=verbosity(gvk, context.environment, context.defaults.verbosity, report),
        max_concurrent_reconciles=concurrency(
            gvk, context.environment, context.defaults.max_concurrent_reconciles, report
        ),
        manage_status=_truth(fields, "manageStatus", default=True),
        watch_dependent_resources=_truth(fields, "watchDependentResources", default=True),
        watch_cluster_scoped_resources=_truth(fields, "watchClusterScopedResources", default=False),
        watch_annotations_changes=_truth(fields, "watchAnnotationsChanges", default=False),
        snake_case_parameters=_truth(fields, "snakeCaseParameters", default=True),
        mark_unsafe=_read_mark_unsafe(fields, report),
        runner=fields.choice("runner") or None,
        run_timeout_s=_limit(fields, "runTimeout", report),
        no_progress_timeout_s=_limit(fields, "noProgressTimeout", report),
        cancel_on_delete=_truth(fields, "cancelOnDelete", default=False),
        cancel_on_change=_truth(fields, "cancelOnChange", default=False),
        ready_condition=_truth(fields, "readyCondition", default=True),
    )


def _truth(fields: Fields, name: str, *, default: bool) -> bool:
    said = fields.truth(name)
    return default if said is None else said


def _read_kind(fields: Fields) -> Gvk:
    return Gvk(fields.text("group"), fields.text("version"), fields.text("kind"))


def _check_kind(gvk: Gvk, fields: Fields, report: Report) -> None:
    for name, value in (("version", gvk.version), ("kind", gvk.kind)):
        if not value:
            report.error(
                fields.line_of(name),
                f"invalid GVK: {gvk}: {name} must not be empty",
                hint=f"add `{name}:` to the entry on line {fields.line}",
            )


def _warn_without_effect(gvk: Gvk, fields: Fields, report: Report) -> None:
    for key in ENTRY_KEYS:
        flag, prefix = key.instead
        if flag and fields.node_of(key.name) is not None:
            report.warn(
                fields.line_of(key.name),
                f"`{key.name}` has no effect in this file",
                hint=f"use `{flag}`, or set {variable_name(prefix, gvk)} for this kind",
            )


def _read_play(fields: Fields, context: EntryContext, add: AddProblem, warn: AddProblem) -> Play:
    """The play that a map names, found or told as missing; the playbook wins where both are there."""
    playbook, role = fields.text("playbook"), fields.text("role")
    if playbook:
        if role:
            warn(fields.line_of("role"), "`role` has no effect next to `playbook`")
        return _find_playbook(playbook, fields.line_of("playbook"), context, add)
    if not role:
        add(fields.line, "must specify Role or Playbook", hint="add `role:` with a role's name")
        return Play(context.cwd, is_role=True)
    found = find_role(role, context.environment, context.cwd, context.project)
    return found or _missing_role(role, fields.line_of("role"), context, add)


def _find_playbook(value: str, line: int, context: EntryContext, add: AddProblem) -> Play:
    path = playbook_path(value, context.cwd)
    if not path.is_file():
        is_folder = [f"{path} is a folder"] if path.is_dir() else []
        add(
            line,
            f"playbook: {path} was not found",
            details=[*is_folder, *_unset(value)],
            hint=f"create it, or correct `playbook:` on line {line}",
        )
    return Play(path, is_role=False)


def _missing_role(role: str, line: int, context: EntryContext, add: AddProblem) -> Play:
    candidates = role_candidates(role, context.environment, context.cwd, context.project)
    looked_in = ", ".join(candidate.shown(context.cwd) for candidate in candidates)
    details = [f"looked in: {looked_in}", *_unset(role)]
    details += [f"{it.shown(context.cwd)} is not a folder" for it in candidates if it.path.exists()]
    add(
        line,
        f"role: {role} was not found",
        details=details,
        hint=f"create its `tasks/main.yml` there, or correct `role:` on line {line}",
    )
    return Play(candidates[-1].path, is_role=True)


def _unset(value: str) -> list[str]:
    return [f"{name} is not set in the environment" for name in unset_names(value)]


def _read_finalizer(fields: Fields, context: EntryContext, report: Report) -> Finalizer | None:
    node = fields.submap("finalizer")
    if node is None:
        return None
    inner = Fields(node, FINALIZER_KEYS, report)
    name, variables = inner.text("name"), inner.data("vars")
    if not name:
        report.error(
            inner.line, "finalizer must have name", hint="add `name: <your group>/finalizer`"
        )
    elif not is_qualified_name(name):
        report.warn(
            inner.line_of("name"),
            f"finalizer name `{name}` will be refused by the API server",
            hint="use `<your group>/finalizer`",
        )
    if not variables:
        return Finalizer(name, _read_play(inner, context, report.error, report.warn))
    if not (inner.text("playbook") or inner.text("role")):
        return Finalizer(name, None, variables)
    # As in the Go operator, a missing play is no error next to `vars`; it fails when it is needed.
    return Finalizer(name, _read_play(inner, context, report.warn, report.warn), variables)


def _read_blacklist(fields: Fields, report: Report) -> frozenset[Gvk]:
    kinds = set()
    for node in fields.items("blacklist"):
        if node.tag == NOTHING:
            continue
        if not isinstance(node, yaml.MappingNode):
            report.error(
                report.line(node),
                "an entry of blacklist must be a map with `group`, `version`, `kind`",
            )
            continue
        inner = Fields(node, KIND_KEYS, report)
        gvk = _read_kind(inner)
        if not (gvk.version and gvk.kind):
            report.warn(inner.line, f"blacklist has an entry that is not a kind: {gvk}")
        kinds.add(gvk)
    return frozenset(kinds)


def _read_mark_unsafe(fields: Fields, report: Report) -> bool | None:
    said = fields.truth("markUnsafe")
    if said is False:
        report.warn(
            fields.line_of("markUnsafe"),
            "`markUnsafe: false` lets Ansible template text that comes from objects, so whoever may"
            " write one can run code with the operator's rights",
            hint="remove the line, unless a role relies on it",
        )
    return said


def _limit(fields: Fields, name: str, report: Report) -> float | None:
    limit_s = fields.duration(name)
    if limit_s is not None and limit_s < 0:
        report.error(
            fields.line_of(name), f"{name} must not be negative", hint="`0s` means no limit"
        )
    return limit_s
