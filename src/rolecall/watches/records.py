"""Reads the keys that follow from what runs read and write: `prune` and `watchReads`.

Both may be `true` or a list of kinds, and `prune` a map or `report` as well.
"""

from __future__ import annotations

import yaml

from rolecall.documents import Fields, Report
from rolecall.gvk import Gvk
from rolecall.watches.keys import PRUNE_KEYS
from rolecall.watches.kind_lists import read_kinds
from rolecall.watches.model import Prune


def read_prune(fields: Fields, report: Report) -> Prune | None:
    node = fields.node_of("prune")
    if isinstance(node, yaml.SequenceNode):
        return Prune(read_kinds(node.value, "prune", report))
    if isinstance(node, yaml.ScalarNode) and node.value == "report":
        return Prune(is_report=True)
    if not isinstance(node, yaml.MappingNode):
        return Prune() if fields.truth("prune") else None
    inner = Fields(node, PRUNE_KEYS, report)
    usual = Prune()
    good_runs, limit = inner.whole("goodRuns"), inner.whole("limitPercent")
    fleet_limit = inner.whole("fleetLimit")
    return Prune(
        is_report=bool(inner.truth("report")),
        good_runs=usual.good_runs if good_runs is None else max(1, good_runs),
        limit_percent=usual.limit_percent if limit is None else max(0, limit),
        fleet_limit=usual.fleet_limit if fleet_limit is None else max(0, fleet_limit),
        kinds=read_kinds(inner.items("kinds"), "prune.kinds", report),
        is_foreground=bool(inner.truth("foreground")),
        even_if_listed=bool(inner.truth("evenIfListed")),
        tasks=frozenset(inner.texts("tasks")),
    )


def read_watch_reads(fields: Fields, report: Report) -> frozenset[Gvk] | None:
    node = fields.node_of("watchReads")
    if not isinstance(node, yaml.SequenceNode):
        return frozenset() if fields.truth("watchReads") else None
    kinds = read_kinds(node.value, "watchReads", report)
    if not kinds:
        report.error(
            report.line(node), "watchReads names no kind", hint="`watchReads: true` watches all"
        )
    return kinds
