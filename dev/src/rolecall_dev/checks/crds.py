"""The CRDs of a project, and whether the kinds that its watches name are among them and served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall_dev.sources import (
    CRD_FOLDERS,
    KUBERNETES_KINDS,
    Document,
    Findings,
    as_map,
    read_folder,
    shown,
)

PRESERVE = "x-kubernetes-preserve-unknown-fields"
_BUILT_IN = frozenset((*KUBERNETES_KINDS, "internal.apiserver.k8s.io"))
# Core kinds whose objects have no status that could be written.
_WITHOUT_STATUS = frozenset(
    ("ConfigMap", "Secret", "ServiceAccount", "Endpoints", "Event", "LimitRange", "PodTemplate")
)


@dataclass(frozen=True, slots=True)
class Crd:
    document: Document

    @property
    def spec(self) -> Json:
        """What the CRD says; empty where it says nothing."""
        return as_map(self.document.data.get("spec"))

    @property
    def names(self) -> Json:
        return as_map(self.spec.get("names"))

    @property
    def plural(self) -> str:
        """The name in URLs and RBAC rules."""
        return str(self.names.get("plural", ""))

    @property
    def is_namespaced(self) -> bool:
        return self.spec.get("scope") != "Cluster"

    def serves(self, gvk: Gvk) -> bool:
        """Whether group and kind are this one's."""
        return (self.spec.get("group"), self.names.get("kind")) == (gvk.group, gvk.kind)


@dataclass(frozen=True, slots=True)
class CrdVersion:
    """One version of a CRD, with its place in the file."""

    crd: Crd
    index: int
    data: Json

    def schema(self, *path: str) -> Json:
        """The schema, or the part of it below these properties; empty where it is not there."""
        found = as_map(as_map(self.data.get("schema")).get("openAPIV3Schema"))
        for name in path:
            found = as_map(as_map(found.get("properties")).get(name))
        return found

    def line(self, *path: str) -> int:
        """The line of a property below the schema, as deep as it is there."""
        steps: list[str | int] = ["spec", "versions", self.index, "schema", "openAPIV3Schema"]
        for name in path:
            steps += ["properties", name]
        return self.crd.document.line(*steps)

    def place(self, *path: str) -> tuple[str, int]:
        return self.file, self.line(*path)

    @property
    def file(self) -> str:
        """As messages name it."""
        return self.crd.document.file


def read_crds(folders: Sequence[Path], cwd: Path, findings: Findings) -> list[Crd]:
    """All CRDs in these folders; what is no CRD is left alone."""
    documents = [document for folder in folders for document in read_folder(folder, cwd, findings)]
    crds = []
    for document in documents:
        data = as_map(document.data)
        if data.get("kind") != "CustomResourceDefinition":
            continue
        if data.get("apiVersion") != "apiextensions.k8s.io/v1":
            findings.error(
                *document.place("apiVersion"),
                f"apiVersion `{data.get('apiVersion')}` is no longer served by Kubernetes",
                hint="move the CRD to `apiextensions.k8s.io/v1`",
            )
            continue
        crds.append(Crd(document))
    return crds


def find_version(
    watch: Watch, crds: Sequence[Crd], looked_in: str, file: str, findings: Findings
) -> CrdVersion | None:
    """The version of a CRD that a watch names; reports a missing one."""
    gvk = watch.gvk
    if gvk.group == "" or "." not in gvk.group or gvk.group in _BUILT_IN:
        return None
    crd = next((crd for crd in crds if crd.serves(gvk)), None)
    if crd is None:
        kinds = [str(it.names.get("kind")) for it in crds if it.spec.get("group") == gvk.group]
        same = next((kind for kind in kinds if kind.lower() == gvk.kind.lower()), "")
        if same:
            findings.error(file, watch.line, f"kind `{gvk.kind}` is spelled `{same}` in its CRD")
        else:
            what = f"no CRD of kind `{gvk.kind}` in group `{gvk.group}` was found"
            findings.warn(file, watch.line, what, details=[f"looked in: {looked_in}"])
        return None
    return _served_version(watch, crd, file, findings)


def _served_version(watch: Watch, crd: Crd, file: str, findings: Findings) -> CrdVersion | None:
    versions = [as_map(version) for version in crd.spec.get("versions") or []]
    for index, version in enumerate(versions):
        if version.get("name") != watch.gvk.version:
            continue
        if not version.get("served"):
            findings.error(
                *crd.document.place("spec", "versions", index, "served"),
                f"version `{watch.gvk.version}` of `{watch.gvk.kind}` is watched but not served",
                hint=f"set `served: true`, or watch another version in {file}",
            )
        return CrdVersion(crd, index, version)
    known = ", ".join(f"`{version.get('name')}`" for version in versions)
    findings.error(
        file,
        watch.line,
        f"version `{watch.gvk.version}` of `{watch.gvk.kind}` is not in its CRD",
        details=[f"{crd.document.file} has {known}"],
    )
    return None


def check_core_kind(watch: Watch, file: str, findings: Findings) -> None:
    """A core kind that has no status cannot have it managed."""
    if watch.gvk.group == "" and watch.gvk.kind in _WITHOUT_STATUS and watch.manage_status:
        findings.error(
            file,
            watch.line,
            f"kind `{watch.gvk.kind}` has no status, but the watch manages it",
            hint="add `manageStatus: false`",
        )


def check_names(crd: Crd, findings: Findings) -> None:
    """The API server refuses a CRD whose name is not `plural.group`."""
    name = as_map(crd.document.data.get("metadata")).get("name")
    wanted = f"{crd.plural}.{crd.spec.get('group')}"
    if name != wanted:
        line = crd.document.line("metadata", "name")
        findings.error(crd.document.file, line, f"name `{name}` must be `{wanted}`")


def folders_to_search(given: Sequence[Path], cwd: Path, findings: Findings) -> list[Path]:
    """The folders that exist; reports a missing one that the user named."""
    for folder in given:
        if not (cwd / folder).is_dir():
            findings.error(shown(cwd / folder, cwd), None, "is not a folder")
    return [cwd / folder for folder in given or CRD_FOLDERS if (cwd / folder).is_dir()]


# Whether the API server will accept and keep what the engine writes into a kind's status.
# The API server silently drops fields that the schema does not contain, and rejects every status if
# the schema requires more fields than the engine writes. The check reports both before the CRD is
# installed.

_CONDITION_TEXTS = ("type", "status", "reason", "message", "lastTransitionTime")
_RESULT_COUNTS = ("ok", "changed", "skipped", "failures", "completion")
_CONDITION_TYPES = ("Running", "Successful", "Failure")


def check_status(watch: Watch, version: CrdVersion, findings: Findings) -> None:
    """Whether what the engine writes into status is accepted and kept."""
    if not watch.manage_status:
        return
    if "status" not in as_map(version.data.get("subresources")):
        findings.error(
            *version.crd.document.place("spec", "versions", version.index),
            f"version `{watch.gvk.version}` has no status subresource, so no status can be written",
            hint="add `subresources: {status: {}}`, or set `manageStatus: false` for the watch",
        )
        return
    root, status = version.schema(), version.schema("status")
    if version.crd.spec.get("preserveUnknownFields") or (not status and _keeps(root)):
        return
    if not status:
        _warn_dropped(version, ("status",), ["status"], findings)
        return
    if not _keeps(status):
        wanted = ["conditions", *(["observedGeneration"] if watch.ready_condition else [])]
        missing = [name for name in wanted if name not in as_map(status.get("properties"))]
        if missing:
            _warn_dropped(version, ("status",), [f"status.{it}" for it in missing], findings)
    _check_conditions(version, findings)


def _keeps(schema: Json) -> bool:
    return bool(schema.get(PRESERVE)) or "additionalProperties" in schema


def _check_conditions(version: CrdVersion, findings: Findings) -> None:
    item = as_map(version.schema("status", "conditions").get("items"))
    fields = as_map(item.get("properties"))
    if not item:
        return
    result = as_map(fields.get("ansibleResult"))
    missing = []
    if not _keeps(item):
        missing += [f"status.conditions[].{it}" for it in _CONDITION_TEXTS if it not in fields]
        if not result:
            missing.append("status.conditions[].ansibleResult")
    if result and not _keeps(result):
        counts = as_map(result.get("properties"))
        missing += [
            f"status.conditions[].ansibleResult.{it}" for it in _RESULT_COUNTS if it not in counts
        ]
    if missing:
        _warn_dropped(version, ("status", "conditions"), missing, findings)
    refused = _refusals(item, fields)
    if refused:
        findings.error(
            *version.place("status", "conditions"),
            "the schema of `status.conditions` refuses conditions of the operator, so no status can"
            " be written",
            details=refused,
        )


def _refusals(item: Json, fields: Json) -> list[str]:
    """Rules that a condition of the engine breaks."""
    written = (*_CONDITION_TEXTS,)
    refused = [
        f"it wants `{name}`, which is not written"
        for name in item.get("required") or []
        if name not in written
    ]
    for name in ("reason", "message"):
        schema = as_map(fields.get(name))
        if schema.get("minLength") or schema.get("pattern"):
            refused.append(f"it wants `{name}` not to be empty, but `Failure: False` has none")
    allowed = as_map(fields.get("type")).get("enum")
    if allowed:
        refused += [
            f"it does not allow type `{it}`" for it in _CONDITION_TYPES if it not in allowed
        ]
    return refused


def _warn_dropped(
    version: CrdVersion, path: tuple[str, ...], dropped: Sequence[str], findings: Findings
) -> None:
    listed = ", ".join(f"`{name}`" for name in dropped)
    findings.warn(
        *version.place(*path),
        f"the API server will drop {listed}, which the schema does not name",
        hint=f"add `{PRESERVE}: true` to `status`, or name the fields",
    )
