"""`rolecall init`: a project without kinds, with the file tree that Operator SDK's users know."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rolecall import __version__
from rolecall.errors import InputError
from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.names import checked_domain, checked_project_name
from rolecall_dev.scaffold.project_file import FILE, ProjectFile
from rolecall_dev.scaffold.templates import rendered


@dataclass(frozen=True, slots=True)
class NewProject:
    """What `init` was asked for; an empty name is taken from the folder."""

    domain: str
    name: str = ""


def add_project(changes: Changes, wanted: NewProject, *, force: bool) -> ProjectFile:
    """Add all files of an empty project; nothing is written yet."""
    name = checked_project_name(wanted.name or _name_of_folder(changes))
    domain = checked_domain(wanted.domain)
    if changes.text_of(FILE) is not None and not force:
        raise InputError(
            f"this folder is a project already: {FILE} is there",
            hint="`rolecall create api` adds a kind to it",
        )
    values = {"project": name, "domain": domain, "version": __version__}
    for path, content in rendered("init", values).items():
        changes.add(path, content)
    project = ProjectFile.new(name, domain)
    changes.add(FILE, project.render())
    return project


def _name_of_folder(changes: Changes) -> str:
    """As a person would make a name of it: `My Operator` becomes `my-operator`."""
    name = changes.root.resolve().name.lower()
    return re.sub(r"[\s_.]+", "-", name).strip("-")
