"""Reads a label selector with the API server's own rules, so that a bad one is rejected at load.

The Go operator finds out only when it builds the controller, and ends there with a message that names
neither file nor line.
"""

from __future__ import annotations

import re

import yaml

from rolecall.documents import Fields, Report
from rolecall.watches.keys import REQUIREMENT_KEYS, SELECTOR_KEYS
from rolecall.watches.model import Requirement, Selector

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_DOMAIN = 253


def is_qualified_name(text: str) -> bool:
    """Whether the API server takes it as a label name or a finalizer: `name` or `domain/name`."""
    domain, slash, name = text.rpartition("/")
    if slash and (len(domain) > _LONGEST_DOMAIN or not _DOMAIN.fullmatch(domain)):
        return False
    return _NAME.fullmatch(name) is not None


def read_selector(node: yaml.MappingNode, report: Report) -> Selector:
    """Read a selector; what the API server would refuse goes into the report."""
    fields = Fields(node, SELECTOR_KEYS, report)
    labels = fields.text_map("matchLabels")
    for name, value in labels.items():
        _check_label(name, (value,), fields.line_of("matchLabels"), report)
    rows = [_requirement(item, report) for item in fields.items("matchExpressions")]
    return Selector(labels, tuple(rows))


def _requirement(node: yaml.Node, report: Report) -> Requirement:
    if not isinstance(node, yaml.MappingNode):
        report.error(
            report.line(node),
            "an entry of matchExpressions must be a map with `key` and `operator`",
        )
        return Requirement("", "Exists")
    fields = Fields(node, REQUIREMENT_KEYS, report)
    row = Requirement(fields.text("key"), fields.choice("operator"), tuple(fields.texts("values")))
    _check_label(row.key, row.values, fields.line_of("key"), report)
    if not row.operator:
        report.error(fields.line, "a requirement has no operator", hint="add `operator: Exists`")
    if row.operator in ("In", "NotIn") and not row.values:
        report.error(fields.line_of("operator"), f"operator `{row.operator}` has no values")
    if row.operator in ("Exists", "DoesNotExist") and row.values:
        report.error(fields.line_of("values"), f"operator `{row.operator}` does not take values")
    return row


def _check_label(name: str, values: tuple[str, ...], line: int, report: Report) -> None:
    if not is_qualified_name(name):
        report.error(line, f"label name `{name}` is not valid, so the API server would refuse it")
    for value in values:
        if value and not _NAME.fullmatch(value):
            report.error(
                line, f"label value `{value}` is not valid, so the API server would refuse it"
            )
