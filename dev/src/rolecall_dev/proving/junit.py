"""A report as JUnit has it, for build servers: a case is a case, a finding is a failure."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree  # written only, never parsed

from rolecall_dev.proving.report import Finding, ProofReport
from rolecall_dev.proving.told import as_text


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
    failure = ElementTree.SubElement(case, "failure", message=_printable(finding.told))
    failure.text = _printable(as_text(finding))


def _printable(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)
