"""Checks a project's files against each other, without a cluster."""

from rolecall.checks.findings import Findings
from rolecall.checks.project import Checked, Project, check_project

__all__ = ["Checked", "Findings", "Project", "check_project"]
