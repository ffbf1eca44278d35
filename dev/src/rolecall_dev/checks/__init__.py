"""Checks a project's files against each other, without a cluster."""

from rolecall_dev.checks.findings import Findings
from rolecall_dev.checks.project import Checked, Project, check_project
from rolecall_dev.checks.schema import watches_schema

__all__ = ["Checked", "Findings", "Project", "check_project", "watches_schema"]
