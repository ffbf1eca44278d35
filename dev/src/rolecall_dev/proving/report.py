"""What a test of an operator came to: findings, what was not reached, and what cannot be proved here.

A finding is about one case that was repeated alone and came out the same way; a case that fails once
and never again is named, and is not a finding. Where the budget left no time for the second try,
that is said too: nothing is known then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from rolecall.clock import Clock, SystemClock
from rolecall_dev.proving.known_limits import MetLimit

# How the name of each sample's first case ends.
UNDISTURBED = ": undisturbed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One case in which the operator did not do what its users count on."""

    check: str
    kind: str
    case: str  # unique within a report: `Website/blog: killed after write 3 of the run`
    reported: str  # one line
    expected: str
    found: str  # a difference, or what was seen instead
    remedy: str = ""  # what to change, in one sentence
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


# How far a test is, in one line: a test of half an hour that says nothing looks as if it hung.
# What is under way longest is named with its time, since that is what a reader waits for.
@dataclass(slots=True)
class ProofProgress:
    samples: int
    known: int = 0  # samples whose undisturbed life is known
    cases: int = 0
    decided: int = 0
    seen_once: int = 0  # problems that are tried a second time when all cases were tried
    is_second: bool = False  # those are under way
    tried_again: int = 0
    clock: Clock = field(default_factory=SystemClock)
    _began: dict[str, float] = field(default_factory=dict)  # of what is under way, in its order

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        self._began[name] = self.clock.monotonic()
        try:
            yield
        finally:
            self._began.pop(name, None)

    @property
    def share(self) -> float:
        """Of what is under way now, from 0 to 1: samples, then cases, then second tries."""
        if not self.cases:
            return self.known / max(1, self.samples)
        if self.is_second and self.seen_once:
            return self.tried_again / self.seen_once
        return self.decided / self.cases

    def reported(self, seconds: float) -> str:
        """`12 of 84 cases, 1 problem seen once; 3 min 10 s; 40 s in Site/blog: edits: spec.size`."""
        said = f"{self._how_far()}; {shown_seconds(seconds)}"
        for name, began in self._began.items():
            return f"{said}; {shown_seconds(self.clock.monotonic() - began)} in {name}"
        return said

    def _how_far(self) -> str:
        if not self.cases:
            return f"undisturbed: {self.known} of {_several(self.samples, 'sample')}"
        if self.is_second and self.seen_once:
            return f"second tries: {self.tried_again} of {self.seen_once}"
        said = f"{self.decided} of {_several(self.cases, 'case')}"
        return (
            f"{said}, {_several(self.seen_once, 'problem')} seen once" if self.seen_once else said
        )


def shown_seconds(seconds: float) -> str:
    """`3 min 10 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# A report as people read it.

_MOST_LISTED = 10
_SLOWEST = 5


def as_text(finding: Finding) -> str:
    """One finding, on several lines."""
    return "\n".join(_lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.case}"
    yield f"  {finding.reported}"
    if finding.place:
        yield f"  task: {finding.place}"
    yield f"  expected: {finding.expected}"
    yield from _block("found", finding.found.splitlines())
    yield from _block("requests around it", finding.requests)
    if finding.remedy:
        yield f"  remedy: {finding.remedy}"
    if finding.replay is not None:
        yield f"  again: rolecall test --replay {_from_here(finding.replay)}"


def _from_here(path: Path) -> Path:
    """Short where it is below this folder: it is to be typed."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _block(title: str, lines: tuple[str, ...] | list[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}:"
        yield from (f"    {line}" for line in lines)


def report_text(report: ProofReport) -> str:
    """All of it: findings first, since they were asked for."""
    parts = [as_text(finding) + "\n" for finding in report.findings]
    parts += _listed("known limits", list(map(str, report.limits)))
    parts += _listed("known limits that nothing meets any more: remove them", report.limits_not_met)
    parts += _listed("worth knowing", report.notes)
    parts += _listed("failed once and not again, so no finding", report.not_repeated)
    parts += _listed(
        "failed once, and the budget left no time for a second try", report.not_tried_again
    )
    parts += _listed("cannot be proved here", report.unproved)
    parts += _listed("broke off, so nothing is known", report.undecided)
    parts += _listed("not reached within the budget", report.not_reached)
    parts += _listed("slowest cases", slowest(report))
    parts.append(summary_of(report))
    parts += untested(report)
    return "\n".join(parts)


def slowest(report: ProofReport) -> list[str]:
    """Where the time went: cases side by side share the machine, so their sum is more than all took."""
    times = sorted(report.seconds_of.items(), key=lambda item: -item[1])
    return [f"{seconds:5.1f} s  {name}" for name, seconds in times[:_SLOWEST]]


def untested(report: ProofReport) -> list[str]:
    """The last line, where cases were not tested: no finding in them means nothing."""
    names = [*report.not_reached, *report.not_tried_again, *report.undecided]
    if not names:
        return []
    checks = Counter(name.split(": ")[1] for name in names)
    by_check = ", ".join(f"{check} {count}" for check, count in checks.most_common())
    said = f"NOT TESTED: {len(names)} of {report.cases + len(names)} cases ({by_check})"
    if any(name.endswith(UNDISTURBED) for name in report.not_reached):
        said += ", and all others of the samples that were not reached undisturbed"
    way_out = (
        "give it a longer --budget, or fewer checks by --check"
        if report.not_reached or report.not_tried_again
        else "see `broke off` above"
    )
    return [f"{said}; nothing is known of them: {way_out}"]


def summary_of(report: ProofReport) -> str:
    late = f", {len(report.not_reached)} not reached" if report.not_reached else ""
    if report.not_tried_again:
        late += f", {len(report.not_tried_again)} not tried again"
    findings = f"{len(report.findings)} finding{'' if len(report.findings) == 1 else 's'}"
    if report.limits:
        findings += f", {len(report.limits)} known"
    if unmet := len(report.limits_not_met):
        findings += f", {unmet} known limit{'' if unmet == 1 else 's'} not met"
    took = shown_seconds(report.seconds)
    cases = f"{report.cases} case{'' if report.cases == 1 else 's'}"
    return f"test: {findings} in {cases}{late}; {report.runs} runs, {took}"


def _listed(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    shown = [f"  {line}" for line in lines[:_MOST_LISTED]]
    if len(lines) > _MOST_LISTED:
        shown.append(f"  and {len(lines) - _MOST_LISTED} more")
    return [f"{title}:", *shown, ""]


# A report as JUnit has it, for build servers: a case is a case, a finding is a failure.
def write_junit(report: ProofReport, path: Path) -> None:
    """Write it, with the folders that lead there."""
    skipped = [(name, "the budget left no time for it") for name in report.not_reached]
    skipped += [
        (name, "it failed once, and the budget left no time for a second try")
        for name in report.not_tried_again
    ]
    skipped += [(it.case, f"known limit: {it.limit.reason}") for it in report.limits]
    failures = len(report.findings) + len(report.limits_not_met)
    suite = ElementTree.Element(
        "testsuite",
        name="rolecall test",
        tests=str(len(report.passed) + failures + len(skipped)),
        failures=str(failures),
        skipped=str(len(skipped)),
        time=f"{report.seconds:.1f}",
    )
    for name in report.passed:
        _timed(_case(suite, name), report, name)
    for finding in report.findings:
        _failed(suite, finding)
    for entry in report.limits_not_met:
        case = _case(suite, entry)
        ElementTree.SubElement(case, "failure", message="nothing meets this known limit any more")
    for name, message in skipped:
        ElementTree.SubElement(_case(suite, name), "skipped", message=message)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    subject, _, rest = name.partition(": ")
    return ElementTree.SubElement(
        suite, "testcase", classname=subject, name=_printable(rest or name)
    )


def _timed(case: ElementTree.Element, report: ProofReport, name: str) -> None:
    if name in report.seconds_of:
        case.set("time", f"{report.seconds_of[name]:.2f}")


def _failed(suite: ElementTree.Element, finding: Finding) -> None:
    case = _case(suite, finding.case)
    failure = ElementTree.SubElement(case, "failure", message=_printable(finding.reported))
    failure.text = _printable(as_text(finding))


def _printable(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)
