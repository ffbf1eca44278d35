"""Finds what an operator does wrong in the states between: killed, refused, edited, deleted by hand.

    report = await prove(Wish(Path("."), kinds=["Website"], budget_s=300))
    for finding in report.findings: ...

What is right is never said by a test: it is what becomes of the same CR when nothing disturbs. So any
operator can be tested that has a sample.
"""

from rolecall_dev.proving.checks import CHECKS
from rolecall_dev.proving.proof import Wish, planned, prove
from rolecall_dev.proving.report import Finding, ProofReport, report_text, write_junit

__all__ = [
    "CHECKS",
    "Finding",
    "ProofReport",
    "Wish",
    "planned",
    "prove",
    "report_text",
    "write_junit",
]
