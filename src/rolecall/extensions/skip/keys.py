"""`skipUnchanged` and `maxSkip` in watches.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from rolecall.documents import Fields, Form, Report, YamlKey
from rolecall.extensions.skip.stores import UNCHANGED_VERBS
from rolecall.watches import EntryContext, ExtensionKeys, KeptThings


@dataclass(frozen=True, slots=True)
class SkipUnchanged(ExtensionKeys):
    """No run at a period or restart where it could only do the same."""

    keys = (
        YamlKey(
            "skipUnchanged",
            Form.TRUTH,
            "false",
            "at a period or a restart, make no run where nothing that the last one depended on changed",
            is_ours=True,
        ),
        YamlKey(
            "maxSkip",
            Form.DURATION,
            "",
            "with `skipUnchanged`, run all the same after this time; absent: ten periods, at most a"
            " day",
            is_ours=True,
        ),
    )
    has_optional_runs = True

    max_skip_s: float | None = None  # None: ten periods, at most a day

    @classmethod
    def read(cls, fields: Fields, context: EntryContext, report: Report) -> Self | None:  # noqa: ARG003 - no plays
        max_skip_s = fields.limit("maxSkip", "every run is made")
        return cls(max_skip_s) if fields.truth("skipUnchanged") else None

    def kept_of(self, kind: str) -> KeptThings:
        lost = f"a restart runs each {kind}, changed or not"
        return KeptThings("unchanged runs", UNCHANGED_VERBS, lost)
