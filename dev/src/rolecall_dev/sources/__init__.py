"""Reads what a project consists of: YAML with its places, tasks and the kinds in them, schemas."""

from rolecall.json_object import as_map
from rolecall_dev.sources.definitions import VariableScope, kinds_asked_for
from rolecall_dev.sources.documents import (
    SUFFIXES,
    Document,
    Findings,
    Line,
    as_yaml,
    filled_in,
    read_documents,
    read_folder,
    shown,
)
from rolecall_dev.sources.kubernetes_kinds import KUBERNETES_KINDS, resources_of_no_namespace
from rolecall_dev.sources.structural import Misfit, misfits, written
from rolecall_dev.sources.tasks import (
    BLOCKS,
    KEYWORDS,
    Reader,
    Sources,
    Step,
    Task,
    is_play,
    tasks_of_file,
    yaml_files,
)

__all__ = [
    "BLOCKS",
    "KEYWORDS",
    "KUBERNETES_KINDS",
    "SUFFIXES",
    "Document",
    "Findings",
    "Line",
    "Misfit",
    "Reader",
    "Sources",
    "Step",
    "Task",
    "VariableScope",
    "as_map",
    "as_yaml",
    "filled_in",
    "is_play",
    "kinds_asked_for",
    "misfits",
    "read_documents",
    "read_folder",
    "resources_of_no_namespace",
    "shown",
    "tasks_of_file",
    "written",
    "yaml_files",
]
