"""What a test of an operator came to: findings, what was not reached, and what cannot be proved here.

A finding is about one case that was repeated alone and came out the same way; a case that fails once
and never again is told by name, and is no finding. Where the budget left no time for the second try,
that is told too: nothing is known then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rolecall_dev.proving.known_limits import MetLimit

# How the name of each sample's first case ends.
UNDISTURBED = ": undisturbed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One case in which the operator did not do what its users count on."""

    check: str
    kind: str
    case: str  # unique within a report: `Website/blog: killed after write 3 of the run`
    told: str  # one line
    expected: str
    found: str  # a difference, or what was seen instead
    requests: tuple[str, ...] = ()  # those around it, in the order in which they came
    place: str = ""  # the task that made the request: `roles/web/tasks/main.yml:12`
    replay: Path | None = None  # for `rolecall test --replay`


@dataclass(slots=True)
class ProofReport:
    """All of one test; written while it goes on, read when it is over."""

    findings: list[Finding] = field(default_factory=list)
    limits: list[MetLimit] = field(default_factory=list)  # found, and accepted by the project
    limits_not_met: list[str] = field(default_factory=list)  # entries that accept nothing any more
    notes: list[str] = field(default_factory=list)  # worth knowing, and no fault
    unproved: list[str] = field(default_factory=list)  # what this cluster cannot show, and why
    not_reached: list[str] = field(default_factory=list)  # cases that the budget left no time for
    not_repeated: list[str] = field(default_factory=list)  # failed once, and not the second time
    not_tried_again: list[str] = field(default_factory=list)  # failed once, and no time was left
    undecided: list[str] = field(default_factory=list)  # cases that broke off, and why
    passed: list[str] = field(default_factory=list)  # names of cases
    seconds_of: dict[str, float] = field(default_factory=dict)  # by name, each case that ended
    seconds: float = 0.0
    runs: int = 0

    @property
    def cases(self) -> int:
        """How many were decided."""
        found = {it.case for it in self.findings} | {it.case for it in self.limits}
        return len(found.union(self.passed))

    @property
    def share(self) -> float:
        """The part of the cases that was decided; 0 where that of a sample undisturbed was not reached.

        Until then it is not known which cases that sample has.
        """
        if any(name.endswith(UNDISTURBED) for name in self.not_reached):
            return 0.0
        open_cases = len(self.not_reached) + len(self.not_tried_again) + len(self.undecided)
        return self.cases / (self.cases + open_cases) if open_cases else 1.0
