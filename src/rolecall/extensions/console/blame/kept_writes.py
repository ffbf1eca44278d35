"""What kept runs wrote into an object: their records, read from their artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from rolecall.extensions.console.blame.verdict import Blamed
from rolecall.extensions.console.blame.writes import BlamedObject, Write, writes_of
from rolecall.history import KeptRun
from rolecall.json_object import Json
from rolecall.record import read_record


@dataclass(slots=True)
class FoundWrites:
    """Of all CRs that were asked for, newest first, and how much was there to look at."""

    writes: list[Write] = field(default_factory=list)
    runs: int = 0
    without_record: int = 0
    incomplete: list[str] = field(default_factory=list)  # ids of runs
    crs: list[str] = field(default_factory=list)  # those of which runs are kept
    failure: str = ""  # why the runs could not be asked for

    def read(self, runs: Iterable[KeptRun], cr: str, target: BlamedObject) -> None:
        """Add the writes of some runs of a CR; reads files."""
        self.crs.append(cr)
        for run in runs:
            self.runs += 1
            record = read_record(run.folder)
            if record is None:
                self.without_record += run.outcome != "running"
                continue
            if record.incomplete:
                self.incomplete.append(run.run)
            self.writes += writes_of(record, cr, target)
        self.writes.sort(key=lambda write: write.at, reverse=True)

    def limits(self, blamed: Sequence[Blamed]) -> list[str]:
        """What these records leave open, for people."""
        notes = []
        if self.without_record:
            notes.append(f"{self.without_record} of {self.runs} kept runs have no record")
        if self.incomplete:
            ids = ", ".join(f"`{each}`" for each in self.incomplete[:5])
            notes.append(f"records that are incomplete, and may miss a write: {ids}")
        if any(each.is_doubtful for each in blamed):
            notes.append(
                "(?): the field manager of that write wrote again later, outside of kept runs, and may"
                " have changed this field"
            )
        return notes

    def as_json(self) -> Json:
        values = asdict(self)
        values["writes"] = [each.as_json() for each in self.writes]
        return values
