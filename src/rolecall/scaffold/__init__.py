"""Makes projects and kinds: files from templates, entries in files that are there, all or nothing."""

from rolecall.scaffold.changes import Changes
from rolecall.scaffold.kind import NewKind, add_kind
from rolecall.scaffold.names import checked_domain, checked_project_name
from rolecall.scaffold.project import NewProject, add_project
from rolecall.scaffold.project_file import ProjectFile

__all__ = [
    "Changes",
    "NewKind",
    "NewProject",
    "ProjectFile",
    "add_kind",
    "add_project",
    "checked_domain",
    "checked_project_name",
]
