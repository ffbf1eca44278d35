"""Which files and folders a run of a play may read as its project's: what a digest of inputs covers.

A role's neighbours count where its folder is one of roles, since roles include each other by name. Of a
playbook's folder only what Ansible looks for beside a playbook: the rest may be anything, and large.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rolecall.settings import RunnerSettings
from rolecall.watches import Play

BESIDE_A_PLAYBOOK = (
    "roles",
    "tasks",
    "vars",
    "templates",
    "files",
    "group_vars",
    "host_vars",
    "library",
    "filter_plugins",
    "module_utils",
)


def inputs_of(play: Play, settings: RunnerSettings) -> tuple[Path, ...]:
    """Absolute paths, whether they are there or not."""
    found = [_of_role(play), *_roles_path(settings)]
    if not play.is_role:
        found = [play.path, *(play.path.parent / name for name in BESIDE_A_PLAYBOOK), *found[1:]]
    if settings.inventory is not None:
        found.append(settings.inventory)
    return tuple(dict.fromkeys(Path(os.path.abspath(path)) for path in found))  # noqa: PTH100


def configuration_of(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where Ansible looks for its configuration, whether it is there or not."""
    named, home = environment.get("ANSIBLE_CONFIG", ""), environment.get("HOME", "")
    paths = [Path("/etc/ansible/ansible.cfg"), Path("ansible.cfg").absolute()]
    paths += [Path(home) / ".ansible.cfg"] if home else []
    return (*paths, *([Path(named)] if named else []))


def _of_role(play: Play) -> Path:
    if play.fqcn and len(play.path.parents) > 2:
        return play.path.parents[1]  # the collection
    return play.path.parent if play.path.parent.name == "roles" else play.path


def _roles_path(settings: RunnerSettings) -> list[Path]:
    return [Path(part) for part in settings.roles_path.split(os.pathsep) if part]
