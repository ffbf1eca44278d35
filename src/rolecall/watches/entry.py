"""One entry of watches.yaml becomes one `Watch`, or problems in the report.

Order of saying what goes first: the entry, where it says something; then the environment's word on the
kind; then the flags. A zero period or artifact count is no word at all, as in the Go operator.
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from rolecall.documents import Fields, Report
from rolecall.gvk import Gvk
from rolecall.watches.extension_keys import ExtensionKeys, MissingKeys
from rolecall.watches.keys import ENTRY_KEYS, FINALIZER_KEYS
from rolecall.watches.kind_lists import read_kind, read_kinds
from rolecall.watches.model import Finalizer, Selector, Watch
from rolecall.watches.overrides import EntryContext, concurrency, variable_name, verbosity
from rolecall.watches.play import NO_PLAY
from rolecall.watches.plays import read_play
from rolecall.watches.selectors import is_qualified_name, read_selector


def read_entry(
    node: yaml.MappingNode,
    context: EntryContext,
    extensions: Sequence[type[ExtensionKeys]],
    report: Report,
) -> Watch:
    """Read one entry; the result is only worth something where nothing was reported."""
    known = (key for extension in extensions for key in extension.keys)
    fields = Fields(
        node,
        (*ENTRY_KEYS, *known),
        report,
        is_strict=MissingKeys in extensions,
        hint="reinstall the extension that has it, or remove the key",
    )
    gvk = read_kind(fields)
    _check_kind(gvk, fields, report)
    _warn_without_effect(gvk, fields, report)
    asked = [each.read(fields, context, report) for each in extensions]
    of_extensions = tuple(each for each in asked if each is not None)
    needs_play = not any(each.replaces_play for each in of_extensions)
    play = NO_PLAY
    if needs_play or fields.text("role") or fields.text("playbook"):
        play = read_play(fields, context, report.error, report.warn)
    period_s = fields.duration("reconcilePeriod")
    selector = fields.submap("selector")
    at_once = concurrency(gvk, context.environment, context.defaults, report)
    return Watch(
        gvk=gvk,
        play=play,
        line=fields.line,
        vars=fields.data("vars"),
        finalizer=_read_finalizer(fields, context, report),
        selector=Selector() if selector is None else read_selector(selector, report),
        blacklist=read_kinds(fields.items("blacklist"), "blacklist", report),
        reconcile_period_s=period_s or context.defaults.reconcile_period_s,
        max_runner_artifacts=fields.whole("maxRunnerArtifacts")
        or context.defaults.max_runner_artifacts,
        verbosity=verbosity(gvk, context.environment, context.defaults.verbosity, report),
        max_concurrent_reconciles=at_once.limit,
        is_concurrency_set=at_once.is_set,
        manage_status=_truth(fields, "manageStatus", default=True),
        watch_dependent_resources=_truth(fields, "watchDependentResources", default=True),
        watch_cluster_scoped_resources=_truth(fields, "watchClusterScopedResources", default=False),
        watch_annotations_changes=_truth(fields, "watchAnnotationsChanges", default=False),
        snake_case_parameters=_truth(fields, "snakeCaseParameters", default=True),
        mark_unsafe=_read_mark_unsafe(fields, report),
        runner=fields.choice("runner") or None,
        run_timeout_s=fields.limit("runTimeout"),
        no_progress_timeout_s=fields.limit("noProgressTimeout"),
        dependents_delay_s=fields.limit("dependentsDelay", "they never wait"),
        cancel_on_delete=_truth(fields, "cancelOnDelete", default=False),
        cancel_on_change=_truth(fields, "cancelOnChange", default=False),
        ready_condition=_truth(fields, "readyCondition", default=True),
        spec_overrides_role=_truth(fields, "specOverridesRole", default=False),
        annotations=tuple(name for each in extensions for name in each.annotations),
        of_extensions=of_extensions,
    )


def _truth(fields: Fields, name: str, *, default: bool) -> bool:
    said = fields.truth(name)
    return default if said is None else said


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
        return Finalizer(name, read_play(inner, context, report.error, report.warn))
    if not (inner.text("playbook") or inner.text("role")):
        return Finalizer(name, None, variables)
    # As in the Go operator, a missing play is no error next to `vars`; it fails when it is needed.
    return Finalizer(name, read_play(inner, context, report.warn, report.warn), variables)


def _read_mark_unsafe(fields: Fields, report: Report) -> bool | None:
    said = fields.truth("markUnsafe")
    if said is False:
        report.warn(
            fields.line_of("markUnsafe"),
            "`markUnsafe: false` lets Ansible template text that comes from objects, so anyone who can"
            " write one can execute code with the operator's rights",
            hint="remove the line, unless a role relies on it",
        )
    return said
