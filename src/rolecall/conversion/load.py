"""Loads conversions.yaml: every rule checked by itself, and every fault of the file reported at once.

Whether the fields are in the CRD's schemas is for `rolecall check` to say: the engine in a pod has no
CRD beside it, and the one in the cluster may be older than the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path as File

import yaml

from rolecall.conversion.convert import Conversion, NamedRule, VersionStep
from rolecall.conversion.entries import read_rule
from rolecall.conversion.keys import CONVERSION_KEYS, STEP_KEYS
from rolecall.conversion.paths import FieldPath, path_text
from rolecall.documents import Fields, MapList, Report, YamlKey, expand, read_maps, read_text
from rolecall.errors import ProblemsError

CONVERSIONS_FILE = File("conversions.yaml")
_LIST = MapList(
    entry="`group`, `kind`, `steps`",
    first="group",
    empty="converts nothing",
    wanted="`group`, `kind`, `steps`",
)


def load_conversions(file: File) -> list[Conversion]:
    """The conversions; raises `ProblemsError` with all that is wrong."""
    report = Report(str(file))
    text = read_text(file, report, hint="create it beside watches.yaml")
    report.located_in(expand(text or "", {}))  # as it is: nothing of the environment belongs here
    nodes = [] if text is None else read_maps(text, report, _LIST)
    conversions = [_read_entry(node, report) for node in nodes]
    _refuse_twice(conversions, nodes, report)
    if report.has_errors:
        raise ProblemsError(report.in_order())
    return conversions


def _read_entry(node: yaml.MappingNode, report: Report) -> Conversion:
    fields = _required(
        Fields(node, CONVERSION_KEYS, report, is_strict=True), CONVERSION_KEYS, report
    )
    steps = []
    for item in fields.items("steps"):
        if isinstance(item, yaml.MappingNode):
            steps.append(_read_step(item, report))
        else:
            report.error(report.line(item), "a step must be a map with `older`, `newer`, `rules`")
    versions = [steps[0].older, *(step.newer for step in steps)] if steps else []
    _check_chain(steps, fields.line_of("steps"), report)
    return Conversion(fields.text("group"), fields.text("kind"), versions, steps, fields.line)


def _read_step(node: yaml.MappingNode, report: Report) -> VersionStep:
    fields = _required(Fields(node, STEP_KEYS, report, is_strict=True), STEP_KEYS, report)
    older, newer = fields.text("older"), fields.text("newer")
    read = [read_rule(item, report, older, newer) for item in fields.items("rules")]
    rules = [rule for rule in read if rule is not None]
    _refuse_shared_fields(rules, report)
    return VersionStep(older, newer, rules)


def _required(fields: Fields, keys: Sequence[YamlKey], report: Report) -> Fields:
    for key in keys:
        if key.is_required and fields.node_of(key.name) is None:
            report.error(fields.line, f"`{key.name}` is missing: {key.meaning}")
    return fields


def _check_chain(steps: Sequence[VersionStep], line: int, report: Report) -> None:
    """Each step begins where the one before ended, and no version comes twice."""
    for before, after in pairwise(steps):
        if before.newer != after.older:
            report.error(
                line,
                f"the step to `{before.newer}` is followed by one from `{after.older}`",
                hint="write the steps from the oldest version to the newest, without a gap",
            )
    versions = [step.older for step in steps[:1]] + [step.newer for step in steps]
    for version in dict.fromkeys(name for name in versions if versions.count(name) > 1):
        report.error(line, f"version `{version}` comes twice, so that steps go in a circle")


def _refuse_shared_fields(rules: Sequence[NamedRule], report: Report) -> None:
    """Two rules for one field contradict: whichever came second would find it gone."""
    for side in ("older", "newer"):
        seen: list[tuple[FieldPath, NamedRule]] = []
        for named in rules:
            paths: Sequence[FieldPath] = getattr(named.rule, side)
            for path in paths:
                for other, by in seen:
                    if path[: len(other)] == other or other[: len(path)] == path:
                        report.error(
                            named.line,
                            f"`{path_text(path)}` of the {side} version is in the rule on "
                            f"line {by.line}, too",
                            details=[f"that one takes `{path_text(other)}`"],
                            hint="one rule for each field; `each` is for fields of a list's items",
                        )
                seen.append((path, named))


def _refuse_twice(
    conversions: Sequence[Conversion], nodes: Sequence[yaml.MappingNode], report: Report
) -> None:
    seen: dict[tuple[str, str], int] = {}
    for conversion, node in zip(conversions, nodes, strict=True):
        key, line = (conversion.group, conversion.kind), report.line(node)
        if key in seen and all(key):
            report.error(
                line, f"`{conversion.kind}` in `{conversion.group}` is on line {seen[key]} already"
            )
        seen.setdefault(key, line)
