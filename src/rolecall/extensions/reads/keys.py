"""`watchReads` in watches.yaml."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Self

import yaml

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.gvk import Gvk
from rolecall.watches import EntryContext, ExtensionKeys, read_kinds


@dataclass(frozen=True, slots=True)
class WatchReads(ExtensionKeys):
    """Which kinds bring a CR back when something changes that its play read."""

    keys = (
        YamlKey(
            "watchReads",
            Form.TRUTH_OR_KINDS,
            "false",
            "run again when something changes that the play read; a list names the kinds",
            is_ours=True,
        ),
    )
    purpose = "watched reads"

    kinds: frozenset[Gvk] = frozenset()  # empty: all

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:  # noqa: ARG003 - no plays
        node = fields.node_of("watchReads")
        if not isinstance(node, yaml.SequenceNode):
            return cls() if fields.truth("watchReads") else None
        kinds = read_kinds(node.value, "watchReads", report)
        if not kinds:
            report.error(
                report.line(node), "watchReads names no kind", hint="`watchReads: true` watches all"
            )
        return cls(kinds)

    @property
    def named_kinds(self) -> frozenset[Gvk]:
        return self.kinds

    def verbs_after(
        self,
        verbs: Set[str],
        resource: tuple[str, str],  # noqa: ARG002 - whatever is read
        *,
        is_named: bool,
    ) -> tuple[str, ...]:
        is_wanted = is_named or not self.kinds
        return ("list", "watch") if is_wanted and verbs & {"get", "list"} else ()
