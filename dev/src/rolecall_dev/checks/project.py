"""Checks a whole project without a cluster: watches, roles, playbooks, CRDs, RBAC, against each other.

Promises to look at everything it can and to start nothing. An error is what keeps a kind from being
reconciled, or its status from being written; a warning is what works differently from what its author
may think. Rejected: `ansible-playbook --syntax-check`, which takes a second for each role and refuses
roles whose collections are not installed on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rolecall.conversion import CONVERSIONS_FILE, Conversion, load_conversions
from rolecall.errors import Problem, ProblemsError
from rolecall.extending import watch_keys
from rolecall.runner import cr_variable
from rolecall.watches import Play, Watch, WatchDefaults, load_watches
from rolecall_dev.checks.arguments import check_arguments
from rolecall_dev.checks.asked_for import AskedFor, check_webhook_files, wanted_files
from rolecall_dev.checks.conversions import (
    TRIALS,
    check_conversions,
    check_converted_samples,
    check_converted_watches,
    check_dropped_versions,
)
from rolecall_dev.checks.crds import (
    Crd,
    CrdVersion,
    check_core_kind,
    check_names,
    check_status,
    find_version,
    folders_to_search,
    read_crds,
)
from rolecall_dev.checks.expressions import check_template_lookups
from rolecall_dev.checks.handlers import check_handler_files
from rolecall_dev.checks.module_docs import ModuleDocs
from rolecall_dev.checks.modules import check_modules
from rolecall_dev.checks.never_skipped import check_never_skipped
from rolecall_dev.checks.object_kinds import check_object_kinds
from rolecall_dev.checks.plays import check_collections, check_play, text_of
from rolecall_dev.checks.porting import check_porting, variables_of
from rolecall_dev.checks.rbac import (
    DEFAULT_FOLDER,
    check_rbac,
    general_needs,
    limits_namespaces,
    needs_of,
    needs_of_core_kind,
    needs_of_stores,
)
from rolecall_dev.checks.records import check_records
from rolecall_dev.checks.rule_tables import check_rule_tables
from rolecall_dev.checks.samples import check_samples
from rolecall_dev.checks.spec_keys import check_open_spec, check_spec_keys
from rolecall_dev.checks.undefined import check_undefined
from rolecall_dev.checks.unused_facts import check_unused_facts
from rolecall_dev.sources import CRD_FOLDERS, Findings, Reader, shown


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
    is_strict: bool = False  # what is missing on this machine alone counts as well
    round_trips: int = TRIALS  # random objects of each version, to each other one and back


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of it."""

    watches: int
    findings: Findings


def check_project(project: Project) -> Checked:
    """Look at everything; nothing is raised for what is wrong with the project."""
    findings = Findings()
    findings.rule = "watches"
    watches = _load(project, findings)
    findings.rule = "yaml"
    for play in _plays(watches):
        check_play(play, project.cwd, findings)
    folder = (project.cwd / project.watches_file).parent
    findings.rule = "collections"
    strictly = {"is_strict": project.is_strict}
    check_collections(
        _plays(watches), project.environment, project.cwd, folder, findings, **strictly
    )
    crds = _crds(project, watches, findings)
    findings.rule = "handlers"
    check_handler_files(watches, crds, project.cwd, findings)
    versions = _check_crds(project, watches, crds, findings)
    conversions = _load_conversions(project, findings)
    if conversions is not None and watches:
        check_conversions(conversions, _file_of(project), crds, findings, project.round_trips)
        findings.rule = "webhook-manifest"
        check_webhook_files(project.cwd, AskedFor(watches, conversions, crds), findings)
        findings.rule = "conversion"
        check_converted_watches(conversions, watches, _file_of(project), findings)
        check_converted_samples(conversions, crds, project.cwd, findings)
    findings.rule = "crd"
    check_dropped_versions(crds, project.cwd, findings)
    findings.rule = "watches"
    check_records(watches, crds, project.cwd, str(project.watches_file), findings)
    _check_rbac(project, watches, versions, findings)
    if watches:
        _check_tasks(project, watches, versions, crds, findings)
        findings.rule = "sample"
        check_samples(crds, project.cwd, findings)
    findings.problems.sort(key=_place)
    return Checked(len(watches), findings)


def _check_tasks(
    project: Project,
    watches: Sequence[Watch],
    versions: Sequence[tuple[Watch, CrdVersion]],
    crds: Sequence[Crd],
    findings: Findings,
) -> None:
    sources = Reader(project.cwd, project.environment).read(_plays(watches))
    folder = (project.cwd / project.watches_file).parent
    docs = ModuleDocs.of(project.environment, project.cwd, folder)
    variables = variables_of(sources, versions)
    findings.rule = "module"
    absent = check_modules(sources, docs, findings)
    docs.known.update(absent)
    reported_already = [
        f"collection `{name.rpartition('.')[0]}` was not found" for name in absent if "." in name
    ]
    findings.notes[:] = [
        note for note in findings.notes if not any(it in note for it in reported_already)
    ]
    findings.problems[:] = [
        each for each in findings.problems if not any(it in each.what for it in reported_already)
    ]
    findings.rule = "object-kind"
    check_object_kinds(sources, crds, _crs(watches), findings)
    findings.rule = "rule-table"
    check_rule_tables(sources, findings)
    findings.rule = "undefined-variable"
    known = {watch.gvk: version for watch, version in versions}
    with_versions = [(watch, known.get(watch.gvk)) for watch in watches]
    check_undefined(sources, with_versions, variables, docs, findings)
    findings.rule = "never-skipped"
    gathering = project.environment.get("ANSIBLE_GATHERING", "")
    check_never_skipped(watches, sources, gathering, str(project.watches_file), findings)
    check_unused_facts(watches, sources, gathering, findings)
    if project.for_strict_core:
        findings.rule = "porting"
        check_porting(sources, variables, project.cwd, findings)
        check_template_lookups(sources, findings)


def _crs(watches: Sequence[Watch]) -> dict[str, object]:
    """The variables that carry CRs in plays, as far as they are known without one."""
    return {
        cr_variable(watch.gvk): {"apiVersion": watch.gvk.api_version, "kind": watch.gvk.kind}
        for watch in watches
    }


def _place(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line or 0, problem.column or 0


def _load(project: Project, findings: Findings) -> list[Watch]:
    try:
        watches, warnings = load_watches(
            project.watches_file,
            project.environment,
            WatchDefaults(),
            project.cwd,
            watch_keys(),
            is_image_elsewhere=True,
        )
    except ProblemsError as error:
        findings.problems.extend(error.problems)
        findings.notes.append(
            "roles, CRDs, RBAC and webhooks were not checked, since the watches file has errors"
        )
        return []
    findings.problems.extend(warnings)
    return watches


def _plays(watches: Sequence[Watch]) -> list[Play]:
    """Every play once, in the order of the watches."""
    plays: dict[Path, Play] = {}
    for watch in watches:
        plays.update((play.path, play) for play in watch.plays if play.path.exists())
    return list(plays.values())


def _crds(project: Project, watches: Sequence[Watch], findings: Findings) -> list[Crd]:
    if not watches:
        return []
    findings.rule = "crd"
    folders = folders_to_search(project.crd_folders, project.cwd, findings)
    crds = read_crds(folders, project.cwd, findings)
    for crd in crds:
        check_names(crd, findings)
    return crds


def _check_crds(
    project: Project, watches: Sequence[Watch], crds: Sequence[Crd], findings: Findings
) -> list[tuple[Watch, CrdVersion]]:
    file = str(project.watches_file)
    looked_in = ", ".join(str(folder) for folder in project.crd_folders or CRD_FOLDERS)
    found = []
    for watch in watches:
        findings.rule = "crd"
        check_core_kind(watch, file, findings)
        version = find_version(watch, crds, looked_in, file, findings)
        if version is not None:
            check_status(watch, version, findings)
            if watch.play:
                check_spec_keys(watch, version, text_of(watch.play, project.cwd), findings)
            findings.rule = "open-spec"
            check_open_spec(watch, version, findings)
            findings.rule = "argument-specs"
            check_arguments(watch, version, project.cwd, findings)
            found.append((watch, version))
    return found


def webhook_files(project: Project) -> dict[str, str]:
    """What config/webhooks of the project must be; raises `ProblemsError` where it has faults."""
    findings = Findings()
    watches = _load(project, findings)
    folders = folders_to_search(project.crd_folders, project.cwd, findings)
    crds = read_crds(folders, project.cwd, findings)
    conversions = _load_conversions(project, findings)
    if conversions is not None:
        check_conversions(conversions, _file_of(project), crds, findings, project.round_trips)
    if findings.errors:
        raise ProblemsError(findings.errors)
    return wanted_files(project.cwd, AskedFor(watches, conversions or (), crds))


def _load_conversions(project: Project, findings: Findings) -> Sequence[Conversion] | None:
    """Those of conversions.yaml; None where it cannot be read."""
    findings.rule = "conversion"
    file = _file_of(project)
    if not (project.cwd / file).is_file():
        return ()
    try:
        return load_conversions(project.cwd / file)
    except ProblemsError as error:
        findings.problems.extend(
            replace(problem, file=file, rule=findings.rule) for problem in error.problems
        )
        return None


def _file_of(project: Project) -> str:
    return str(project.watches_file.with_name(CONVERSIONS_FILE.name))


def _check_rbac(
    project: Project,
    watches: Sequence[Watch],
    versions: Sequence[tuple[Watch, CrdVersion]],
    findings: Findings,
) -> None:
    if not watches:
        return
    findings.rule = "rbac"
    folder = project.cwd / (project.rbac_folder or DEFAULT_FOLDER)
    if not folder.is_dir():
        if project.rbac_folder is not None:
            findings.error(shown(folder, project.cwd), None, "is not a folder")
        else:
            findings.notes.append(f"RBAC was not checked, since there is no {DEFAULT_FOLDER}")
        return
    needs = [need for watch, version in versions for need in needs_of(watch, version)]
    needs += needs_of_stores(watches)
    for watch in watches:
        needs += needs_of_core_kind(watch.gvk.kind) if not watch.gvk.group else []
    namespaces = project.environment.get("WATCH_NAMESPACE", "").strip(" ,")
    is_limited = bool(namespaces) or limits_namespaces(project.cwd)
    check_rbac(
        folder,
        [*dict.fromkeys(needs), *general_needs()],
        project.cwd,
        all_namespaces=not is_limited,
        findings=findings,
    )
