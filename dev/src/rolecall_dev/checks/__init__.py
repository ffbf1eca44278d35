"""Checks a project's files against each other, without a cluster."""

from rolecall_dev.checks.formats import FORMATS
from rolecall_dev.checks.project import Checked, Project, check_project, webhook_files
from rolecall_dev.checks.schema import conversions_schema, watches_schema
from rolecall_dev.sources import Findings

__all__ = [
    "FORMATS",
    "Checked",
    "Findings",
    "Project",
    "check_project",
    "conversions_schema",
    "watches_schema",
    "webhook_files",
]
