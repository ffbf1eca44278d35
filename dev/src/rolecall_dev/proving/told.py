"""A report as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rolecall_dev.proving.progress import shown_seconds
from rolecall_dev.proving.report import Finding, ProofReport

_MOST_LISTED = 10
_SLOWEST = 5


def as_text(finding: Finding) -> str:
    """One finding, on several lines."""
    return "\n".join(_lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.case}"
    yield f"  {finding.told}"
    if finding.place:
        yield f"  task: {finding.place}"
    yield f"  expected: {finding.expected}"
    yield from _block("found", finding.found.splitlines())
    yield from _block("requests around it", finding.requests)
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
    return "\n".join(parts)


def slowest(report: ProofReport) -> list[str]:
    """Where the time went: cases side by side share the machine, so their sum is more than all took."""
    times = sorted(report.seconds_of.items(), key=lambda item: -item[1])
    return [f"{seconds:5.1f} s  {name}" for name, seconds in times[:_SLOWEST]]


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
