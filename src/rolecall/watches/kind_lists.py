"""Reads kinds where an entry names them: its own, and those in lists."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from rolecall.documents import NOTHING, Fields, Report
from rolecall.gvk import Gvk
from rolecall.watches.keys import KIND_KEYS


def read_kind(fields: Fields) -> Gvk:
    return Gvk(fields.text("group"), fields.text("version"), fields.text("kind"))


def read_kinds(nodes: Iterable[yaml.Node], name: str, report: Report) -> frozenset[Gvk]:
    """A list of kinds; `name` is what messages call it."""
    kinds = set()
    for node in nodes:
        if node.tag == NOTHING:
            continue
        if not isinstance(node, yaml.MappingNode):
            report.error(
                report.line(node),
                f"an entry of {name} must be a map with `group`, `version`, `kind`",
            )
            continue
        inner = Fields(node, KIND_KEYS, report)
        gvk = read_kind(inner)
        if not (gvk.version and gvk.kind):
            report.warn(inner.line, f"{name} has an entry that is not a kind: {gvk}")
        kinds.add(gvk)
    return frozenset(kinds)
