"""`mode` in watches.yaml, and the annotation of a CR that says the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.json_object import Json
from rolecall.watches import EntryContext, ExtensionKeys, Watch

MODE_ANNOTATION = "rolecall.dev/mode"
_OBSERVE = "observe"


@dataclass(frozen=True, slots=True)
class PlanKeys(ExtensionKeys):
    """Of an entry that asks for plans instead of runs."""

    keys = (
        YamlKey(
            "mode",
            Form.TEXT,
            "reconcile",
            "`observe`: no runs, only plans of them, after each period; they report drift in the"
            " condition `Drifted`, and write nothing else",
            is_ours=True,
            choices=("reconcile", _OBSERVE),
        ),
    )
    annotations = (MODE_ANNOTATION,)

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:  # noqa: ARG003 - no plays
        return cls() if fields.choice("mode") == _OBSERVE else None


def is_observed(cr: Json, watch: Watch) -> bool:
    """Whether the engine only looks what a run would change; what its watch says, no CR takes back."""
    annotations = cr["metadata"].get("annotations") or {}
    return watch.extension(PlanKeys) is not None or annotations.get(MODE_ANNOTATION) == _OBSERVE
