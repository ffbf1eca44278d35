"""Custom resources that the project brings along, against their CRDs, as `kubectl apply` would judge.

Rules in CEL (`x-kubernetes-validations`) are not looked at: only an API server can evaluate them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall_dev.checks.crds import Crd
from rolecall_dev.checks.nearest import meant
from rolecall_dev.sources import (
    SUFFIXES,
    Document,
    Findings,
    Misfit,
    Step,
    as_map,
    misfits,
    read_documents,
    with_object_fields,
    written,
)

_SAMPLES = "config/samples"
_MOLECULE = "molecule"
_OBJECT_KEYS = ("definition", "resource_definition", "inline")


@dataclass(frozen=True, slots=True)
class _Sample:
    document: Document
    path: tuple[Step, ...]  # where in the document
    data: Json

    def report(self, findings: Findings, path: tuple[Step, ...], what: str) -> None:
        findings.error(*self.document.place(*self.path, *path), what)


def check_samples(crds: Sequence[Crd], cwd: Path, findings: Findings) -> None:
    """Look at `config/samples`, and at what molecule's playbooks apply as it stands."""
    for sample in _samples(cwd, findings):
        versions = _Versions(crds, sample)
        schema = versions.schema(findings)
        if schema is None:
            continue
        kind = sample.data["kind"]
        for misfit in _misfits(sample.data, schema):
            sample.report(
                findings,
                misfit.path,
                f"the API server would refuse this {kind}: `{written(misfit.path)}` {misfit.why}",
            )


def _samples(cwd: Path, findings: Findings) -> Iterator[_Sample]:
    for path in _files(cwd / _SAMPLES):
        for document in read_documents(path, cwd, findings):
            yield from _as_sample(document, (), document.data)
    for path in _files(cwd / _MOLECULE):
        for document in read_documents(path, cwd, Findings()):
            yield from _below(document, (), document.data)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def _below(document: Document, path: tuple[Step, ...], data: Any) -> Iterator[_Sample]:
    """Objects that are given to modules, however deep in blocks the task stands."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in _OBJECT_KEYS:
                yield from _as_sample(document, (*path, key), value)
            yield from _below(document, (*path, key), value)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _below(document, (*path, index), value)


def _as_sample(document: Document, path: tuple[Step, ...], data: Any) -> Iterator[_Sample]:
    names = [as_map(data).get("apiVersion"), as_map(data).get("kind")]
    if all(isinstance(name, str) and "{{" not in name for name in names):
        yield _Sample(document, path, data)


@dataclass(frozen=True, slots=True)
class _Versions:
    """Which schema a sample has to fit."""

    crds: Sequence[Crd]
    sample: _Sample

    def schema(self, findings: Findings) -> Json | None:
        gvk = Gvk.parse(self.sample.data["apiVersion"], self.sample.data["kind"])
        of_group = [crd for crd in self.crds if crd.spec.get("group") == gvk.group]
        if not of_group:
            return None  # not the project's
        crd = next((crd for crd in of_group if crd.serves(gvk)), None)
        if crd is None:
            kinds = [str(it.names.get("kind")) for it in of_group]
            what = f"there is no kind `{gvk.kind}` in group `{gvk.group}`{meant(gvk.kind, kinds)}"
            self.sample.report(findings, ("kind",), what)
            return None
        return self._of_version(crd, gvk, findings)

    def _of_version(self, crd: Crd, gvk: Gvk, findings: Findings) -> Json | None:
        versions = [as_map(version) for version in crd.spec.get("versions") or []]
        served = {str(it.get("name")): it for it in versions if it.get("served")}
        if gvk.version not in served:
            listed = ", ".join(f"`{gvk.group}/{name}`" for name in served) or "none"
            what = f"version `{gvk.version}` of `{gvk.kind}` is not served; its CRD serves {listed}"
            self.sample.report(findings, ("apiVersion",), what)
            return None
        return as_map(as_map(served[gvk.version].get("schema")).get("openAPIV3Schema"))


def _misfits(data: Json, schema: Json) -> Iterator[Misfit]:
    """Without what is a template and known only when it runs."""
    metadata = as_map(data.get("metadata"))
    if not any(metadata.get(key) for key in ("name", "generateName")):
        yield Misfit(("metadata", "name"), "is missing")
    for misfit in misfits(data, with_object_fields(schema)):
        if not _is_templated(data, misfit.path):
            yield misfit


def _is_templated(data: Any, path: tuple[Step, ...]) -> bool:
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return False
    return isinstance(data, str) and "{{" in data
