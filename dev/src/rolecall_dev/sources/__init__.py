"""Reads what a project consists of: YAML with its places, tasks and the kinds in them, schemas."""

from rolecall_dev.sources.definitions import Pair, VariableScope, pairs_in
from rolecall_dev.sources.documents import (
    SUFFIXES,
    Document,
    as_map,
    read_documents,
    read_folder,
    shown,
)
from rolecall_dev.sources.findings import Findings
from rolecall_dev.sources.reader import Reader, Sources, yaml_files
from rolecall_dev.sources.scopes import resources_of_no_namespace
from rolecall_dev.sources.structural import misfits
from rolecall_dev.sources.tasks import BLOCKS, KEYWORDS, Step, Task, is_play, tasks_of_file

__all__ = [
    "BLOCKS",
    "KEYWORDS",
    "SUFFIXES",
    "Document",
    "Findings",
    "Pair",
    "Reader",
    "Sources",
    "Step",
    "Task",
    "VariableScope",
    "as_map",
    "is_play",
    "misfits",
    "pairs_in",
    "read_documents",
    "read_folder",
    "resources_of_no_namespace",
    "shown",
    "tasks_of_file",
    "yaml_files",
]
