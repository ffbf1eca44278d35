"""`rolecall create api`: a kind with CRD, role, sample, tests, RBAC, and its entry in watches.yaml.

What it adds works at once: the role does one small thing, its test proves it, and RBAC allows that and
no more. Files that are there are extended at their scaffold marks, in projects of the Operator SDK too.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.runner import cr_variable
from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.further_version import KnownCrd, add_step, add_version, find_crd
from rolecall_dev.scaffold.names import (
    checked_group,
    checked_kind,
    checked_plural,
    checked_version,
)
from rolecall_dev.scaffold.project import FILE, ProjectFile, ProjectResource, renew_schema
from rolecall_dev.scaffold.templates import rendered
from rolecall_dev.scaffold.yaml_lists import ListItem, with_item
from rolecall_dev.sources import plural_of

# Roles that people get, and nothing of the operator itself.
_PEOPLE = ("admin", "editor", "viewer", "log_reader")
_KUSTOMIZATION = (
    "---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
)


@dataclass(frozen=True, slots=True)
class NewKind:
    """What `create api` was asked for."""

    group: str
    version: str
    kind: str
    plural: str = ""  # empty: the usual one
    role: bool = False
    playbook: bool = False
    finalizer: bool = False


def add_kind(changes: Changes, project: ProjectFile, wanted: NewKind, *, force: bool) -> str:
    """Add the files and entries of a kind, or a version of one; nothing is written yet.

    What a person should know of it comes back.
    """
    gvk = Gvk(
        checked_group(wanted.group, project.domain),
        checked_version(wanted.version),
        checked_kind(wanted.kind),
    )
    plural = checked_plural(wanted.plural or plural_of(gvk.kind))
    resource = ProjectResource(wanted.group, project.domain, gvk.version, gvk.kind)
    if not force:
        project.refuse_twice(resource)
    values = _values(project, wanted, gvk, plural)
    crd = find_crd(changes, gvk)
    project.add(resource)
    changes.edit(FILE, project.render())
    renew_schema(changes)
    if crd is not None and gvk.version not in crd.versions:
        return _add_version(changes, wanted, gvk, crd, values["sample"])
    _refuse_second_watch(changes, gvk, force=force)
    for path, content in rendered("api", values).items():
        # A CRD that has more versions than this one is more than we would write.
        if crd is None or path != crd.file or len(crd.versions) == 1:
            changes.add(path, content)
    _add_play(changes, wanted, values)
    _add_entries(changes, wanted, gvk, values)
    return ""


def _add_version(changes: Changes, wanted: NewKind, gvk: Gvk, crd: KnownCrd, sample: str) -> str:
    if wanted.playbook or wanted.finalizer:
        flag = "--generate-playbook" if wanted.playbook else "--finalizer"
        raise InputError(
            f"`{flag}` is for a new kind, and `{gvk.kind}` is there in {', '.join(crd.versions)}",
            hint="leave it out to add the version, and edit watches.yaml by hand",
        )
    add_version(changes, crd, gvk, sample)
    add_step(changes, gvk, crd.versions)
    item = _resource("config/samples", f"{sample}.yaml", "manifestskustomizesamples")
    content = changes.text_of(item.file)
    if content is None:
        changes.add(item.file, with_item(_beginning(item), item))
    else:
        changes.edit(item.file, with_item(content, item))
    return (
        f"{gvk.kind} is served in {', '.join((*crd.versions, gvk.version))} now. watches.yaml keeps"
        " its one entry, which sees custom resources of every version.\nOnce the role needs fields that"
        f" only {gvk.version} has, set `version: {gvk.version}` there. conversions.yaml says how the"
        " versions become each other:\nit must be in the image (`COPY conversions.yaml` in the"
        " Dockerfile), and `rolecall check` holds it to the CRD."
    )


def _values(project: ProjectFile, wanted: NewKind, gvk: Gvk, plural: str) -> dict[str, str]:
    kind_lower = gvk.kind.lower()
    prefix = f"{wanted.group}-{kind_lower}" if project.is_multigroup else kind_lower
    sample = "_".join(part for part in (wanted.group, gvk.version, kind_lower) if part)
    return {
        "project": project.name,
        "group_domain": gvk.group,
        "api_version": gvk.version,
        "kind": gvk.kind,
        "kind_lower": kind_lower,
        "plural": plural,
        "sample": sample,
        "cr_variable": cr_variable(gvk),  # what the engine calls the CR in plays
        "rbac_prefix": prefix.replace(".", "-"),
        "rbac_file": prefix.replace("-", "_").replace(".", "_"),
    }


def _add_play(changes: Changes, wanted: NewKind, values: dict[str, str]) -> None:
    kind = values["kind_lower"]
    if wanted.role:
        files = rendered("role", values)
        if wanted.finalizer:
            files |= rendered("role_finalizer", values)
        for path, content in files.items():
            changes.add(f"roles/{kind}/{path}", content)
    if wanted.playbook:
        template = "role.yml" if wanted.role else "alone.yml"
        changes.add(f"playbooks/{kind}.yml", rendered("playbook", values)[template])


def _refuse_second_watch(changes: Changes, gvk: Gvk, *, force: bool) -> None:
    try:
        entries = yaml.safe_load(changes.text_of("watches.yaml") or "") or []
    except yaml.YAMLError as error:
        raise InputError(f"watches.yaml is not valid YAML: {error}") from error
    rows = [entry for entry in entries if isinstance(entry, dict)]
    same = [row for row in rows if (row.get("group"), row.get("kind")) == (gvk.group, gvk.kind)]
    if same and not force and any(row.get("version") == gvk.version for row in same):
        raise InputError(f"kind `{gvk.kind}` ({gvk.api_version}) is in watches.yaml already")


def _add_entries(changes: Changes, wanted: NewKind, gvk: Gvk, values: dict[str, str]) -> None:
    crd = f"bases/{gvk.group}_{values['plural']}.yaml"
    people = [f"{values['rbac_file']}_{who}_role.yaml" for who in _PEOPLE]
    items = [
        ListItem("watches.yaml", "watch", _watch(wanted, gvk)),
        _resource("config/crd", crd, "crdkustomizeresource"),
        _resource("config/samples", f"{values['sample']}.yaml", "manifestskustomizesamples"),
        *(_resource("config/rbac", name, "rbac") for name in people),
        *(ListItem("config/rbac/role.yaml", "rules", rule, key="rules") for rule in _rules(values)),
    ]
    for item in items:
        content = changes.text_of(item.file)
        if content is None:
            changes.add(item.file, with_item(_beginning(item), item))
        elif not _is_watched(item, content, gvk):
            changes.edit(item.file, with_item(content, item))


def _is_watched(item: ListItem, content: str, gvk: Gvk) -> bool:
    """Whether it is a watch that a forced second run need not add."""
    if item.key is not None:
        return False
    rows = yaml.safe_load(content) or []
    names = (gvk.group, gvk.version, gvk.kind)
    return any(tuple(row.get(key) for key in ("group", "version", "kind")) == names for row in rows)


def _beginning(item: ListItem) -> str:
    """The content of a file that is not there yet."""
    if item.file == "watches.yaml":
        raise InputError(
            "watches.yaml is not there, so there is no project in this folder",
            hint="`rolecall init` starts one",
        )
    if item.file.endswith("kustomization.yaml"):
        return f"{_KUSTOMIZATION}# +kubebuilder:scaffold:{item.mark}\n"
    raise InputError(
        f"{item.file} is not there, so the new kind would have no rights",
        hint="`rolecall init --force` makes it, with all other files of a project",
    )


def _resource(folder: str, name: str, mark: str) -> ListItem:
    return ListItem(f"{folder}/kustomization.yaml", mark, f"- {name}\n", key="resources")


def _watch(wanted: NewKind, gvk: Gvk) -> str:
    kind = gvk.kind.lower()
    play = f"playbook: playbooks/{kind}.yml" if wanted.playbook else f"role: {kind}"
    lines = [f"- version: {gvk.version}", f"  group: {gvk.group}", f"  kind: {gvk.kind}"]
    lines.append(f"  {play}")
    if wanted.finalizer:
        lines += ["  finalizer:", f"    name: {gvk.group}/finalizer"]
        lines += ["    vars:", "      finalizer_run: true"]
    return "\n".join(lines) + "\n"


def _rules(values: dict[str, str]) -> list[str]:
    """What the engine does with the kind, and the example with ConfigMaps."""
    rules = rendered("entries", values)["rules.yaml"].rstrip("\n").split("\n\n")
    return [f"{rule}\n" for rule in rules]
