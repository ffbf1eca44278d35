"""Tries many cases of an entry point, and makes what it finds smaller."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.unit.hostile.entry_point import Check, EntryPoint, Finding, make_case, try_case
from tests.unit.hostile.shrinking import shrunk


@dataclass
class Tally:
    """What came of the cases of one entry point."""

    entry: str
    tried: int = 0
    accepted: int = 0
    cpu_s: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)  # by symptom, the first of each

    def add(self, other: Tally) -> None:
        self.tried += other.tried
        self.accepted += other.accepted
        self.cpu_s += other.cpu_s
        self.findings = {**other.findings, **self.findings}


def try_many(
    entry: EntryPoint, seed: int, numbers: Iterable[int], *, shrinks: bool = True
) -> Tally:
    """Try these cases, one after the other."""
    tally = Tally(entry.name)
    began = time.process_time()
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as folder,
        entry.open(Path(folder)) as check,
    ):
        for number in numbers:
            case = make_case(entry, seed, number)
            is_accepted, finding = try_case(entry, check, case)
            tally.tried += 1
            tally.accepted += is_accepted
            if finding is not None and finding.symptom not in tally.findings:
                named = replace(finding, seed=f"{seed}/{number}")
                small = _smaller(entry, check, named) if shrinks else named
                tally.findings[finding.symptom] = small
    tally.cpu_s = time.process_time() - began
    return tally


def try_one(entry: EntryPoint, case: Any) -> Finding | None:
    """Try one case that was kept."""
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as folder,
        entry.open(Path(folder)) as check,
    ):
        return try_case(entry, check, case)[1]


def _smaller(entry: EntryPoint, check: Check, finding: Finding) -> Finding:
    if finding.symptom.startswith("HungError"):
        return finding  # each try would take as long again

    def breaks(case: Any) -> bool:
        found = try_case(entry, check, case)[1]
        return found is not None and found.symptom == finding.symptom

    return replace(finding, case=shrunk(finding.case, breaks))
