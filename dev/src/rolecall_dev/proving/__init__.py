"""Finds what an operator does wrong in the states between: killed, refused, edited, deleted by hand.

    report = await prove(Path("."), kinds=["Website"], budget_s=300)
    for finding in report.findings: ...
"""

from rolecall_dev.proving.prove import prove
from rolecall_dev.proving.report import Finding, Report

__all__ = ["Finding", "Report", "prove"]
