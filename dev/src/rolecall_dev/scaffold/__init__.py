"""Makes projects and kinds: files from templates, entries in files that are there, all or nothing."""

from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.handler import NewHandler, add_handler
from rolecall_dev.scaffold.kind import NewKind, add_kind
from rolecall_dev.scaffold.project import NewProject, ProjectFile, add_project
from rolecall_dev.scaffold.yaml_lists import ListItem, with_item, without_item

__all__ = [
    "Changes",
    "ListItem",
    "NewHandler",
    "NewKind",
    "NewProject",
    "ProjectFile",
    "add_handler",
    "add_kind",
    "add_project",
    "with_item",
    "without_item",
]
