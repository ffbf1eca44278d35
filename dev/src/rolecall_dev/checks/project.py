"""Checks a whole project without a cluster: watches, roles, playbooks, CRDs, RBAC, against each other.

Promises to look at everything it can and to start nothing. An error is what keeps a kind from being
reconciled, or its status from being written; a warning is what works differently from what its author
may think. Rejected: `ansible-playbook --syntax-check`, which takes a second for each role and refuses
roles whose collections are not installed on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall.errors import ProblemsError
from rolecall.watches import Play, Watch, WatchDefaults, load_watches
from rolecall_dev.checks.arguments import check_arguments
from rolecall_dev.checks.collections import check_collections
from rolecall_dev.checks.crds import (
    DEFAULT_FOLDERS,
    CrdVersion,
    check_core_kind,
    check_names,
    find_version,
    folders_to_search,
    read_crds,
)
from rolecall_dev.checks.plays import check_play, text_of
from rolecall_dev.checks.porting import check_porting
from rolecall_dev.checks.rbac import (
    DEFAULT_FOLDER,
    DEPLOYMENT_FOLDERS,
    check_rbac,
    general_needs,
    limits_namespaces,
    needs_of,
    needs_of_core_kind,
)
from rolecall_dev.checks.spec_keys import check_spec_keys
from rolecall_dev.checks.status_schema import check_status
from rolecall_dev.sources import Findings, shown


@dataclass(frozen=True, slots=True)
class Project:
    """What to check, and the surroundings that decide what it means."""

    cwd: Path
    environment: Mapping[str, str]
    watches_file: Path = Path("watches.yaml")
    crd_folders: Sequence[Path] = ()  # empty: the usual ones
    rbac_folder: Path | None = None  # None: the usual one
    # Look for what breaks under ansible-core 2.19 and later.
    for_strict_core: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of it."""

    watches: int
    findings: Findings


def check_project(project: Project) -> Checked:
    """Look at everything; nothing is raised for what is wrong with the project."""
    findings = Findings()
    watches = _load(project, findings)
    for play in _plays(watches):
        check_play(play, project.cwd, findings)
    folder = (project.cwd / project.watches_file).parent
    check_collections(_plays(watches), project.environment, project.cwd, folder, findings)
    versions = _check_crds(project, watches, findings)
    _check_rbac(project, watches, versions, findings)
    if project.for_strict_core:
        check_porting(_plays(watches), versions, project.cwd, project.environment, findings)
    return Checked(len(watches), findings)


def _load(project: Project, findings: Findings) -> list[Watch]:
    try:
        watches, warnings = load_watches(
            project.watches_file, project.environment, WatchDefaults(), project.cwd
        )
    except ProblemsError as error:
        findings.problems.extend(error.problems)
        findings.notes.append(
            "roles, CRDs and RBAC were not checked, since the watches file has errors"
        )
        return []
    findings.problems.extend(warnings)
    return watches


def _plays(watches: Sequence[Watch]) -> list[Play]:
    """Every play once, in the order of the watches."""
    plays: dict[Path, Play] = {}
    for watch in watches:
        own = [watch.play]
        if watch.finalizer is not None and watch.finalizer.play is not None:
            own.append(watch.finalizer.play)
        plays.update((play.path, play) for play in own if play.path.exists())
    return list(plays.values())


def _check_crds(
    project: Project, watches: Sequence[Watch], findings: Findings
) -> list[tuple[Watch, CrdVersion]]:
    if not watches:
        return []
    file = str(project.watches_file)
    folders = folders_to_search(project.crd_folders, project.cwd, findings)
    crds = read_crds(folders, project.cwd, findings)
    looked_in = ", ".join(str(folder) for folder in project.crd_folders or DEFAULT_FOLDERS)
    for crd in crds:
        check_names(crd, findings)
    found = []
    for watch in watches:
        check_core_kind(watch, file, findings)
        version = find_version(watch, crds, looked_in, file, findings)
        if version is not None:
            check_status(watch, version, findings)
            check_spec_keys(watch, version, text_of(watch.play, project.cwd), findings)
            check_arguments(watch, version, project.cwd, findings)
            found.append((watch, version))
    return found


def _check_rbac(
    project: Project,
    watches: Sequence[Watch],
    versions: Sequence[tuple[Watch, CrdVersion]],
    findings: Findings,
) -> None:
    if not watches:
        return
    folder = project.cwd / (project.rbac_folder or DEFAULT_FOLDER)
    if not folder.is_dir():
        if project.rbac_folder is not None:
            findings.error(shown(folder, project.cwd), None, "is not a folder")
        else:
            findings.notes.append(f"RBAC was not checked, since there is no {DEFAULT_FOLDER}")
        return
    needs = [need for watch, version in versions for need in needs_of(watch, version)]
    for watch in watches:
        needs += needs_of_core_kind(watch.gvk.kind) if not watch.gvk.group else []
    namespaces = project.environment.get("WATCH_NAMESPACE", "").strip(" ,")
    is_limited = bool(namespaces) or any(
        limits_namespaces(project.cwd / folder, project.cwd) for folder in DEPLOYMENT_FOLDERS
    )
    check_rbac(
        folder,
        [*dict.fromkeys(needs), *general_needs()],
        project.cwd,
        all_namespaces=not is_limited,
        findings=findings,
    )
