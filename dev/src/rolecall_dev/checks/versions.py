"""Versions of a kind beyond its own file: samples at each of them, and those that were shipped before.

A version may be dropped from a CRD only where no object is stored at it: the API server refuses the CRD
else, and the release with it. The bundle that is checked in says what was shipped last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rolecall.conversion import Conversion, ConversionError
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall_dev.checks.crds import Crd
from rolecall_dev.sources import Findings, as_map, misfits, read_documents, read_folder

_BUNDLE = Path("bundle/manifests")
_SAMPLES = Path("config/samples")
_WAY_OUT = "keep it with `served: false` until `rolecall migrate-storage` was run in each cluster"


def check_dropped_versions(crds: Sequence[Crd], cwd: Path, findings: Findings) -> None:
    """Against the CRDs of the bundle, where there is one."""
    if not (cwd / _BUNDLE).is_dir():
        return
    shipped = {
        str(as_map(it.data.get("metadata")).get("name")): as_map(it.data)
        for it in read_folder(cwd / _BUNDLE, cwd, Findings())
        if as_map(it.data).get("kind") == "CustomResourceDefinition"
    }
    for crd in crds:
        name = str(as_map(crd.document.data.get("metadata")).get("name"))
        there = {as_map(it).get("name") for it in crd.spec.get("versions") or []}
        for version in as_map(shipped.get(name, {}).get("spec")).get("versions") or []:
            if version["name"] not in there:
                _tell_dropped(crd, version, findings)


def _tell_dropped(crd: Crd, version: Json, findings: Findings) -> None:
    file, line = crd.document.file, crd.document.line("spec", "versions")
    head = f"`{version['name']}` of `{crd.names.get('kind')}` was shipped in {_BUNDLE}"
    if version.get("storage"):
        what = f"{head} as the version that is stored: clusters refuse a CRD without it"
        findings.error(file, line, what, hint=_WAY_OUT)
    else:
        what = f"{head}: where objects are stored at it still, clusters refuse this CRD"
        findings.warn(file, line, what, hint=_WAY_OUT)


def check_converted_watches(
    conversions: Sequence[Conversion], watches: Sequence[Watch], file: str, findings: Findings
) -> None:
    """Kinds that nobody watches are converted as well; mostly it is a slip of the pen."""
    watched = {(watch.gvk.group, watch.gvk.kind) for watch in watches}
    for conversion in conversions:
        if watches and (conversion.group, conversion.kind) not in watched:
            findings.warn(
                file,
                conversion.line or None,
                f"`{conversion.kind}` of `{conversion.group}` is converted, and no entry of"
                " watches.yaml watches it",
            )


def check_converted_samples(
    conversions: Sequence[Conversion], crds: Sequence[Crd], cwd: Path, findings: Findings
) -> None:
    """Each sample at each version: it must be convertible, and fit the schema there."""
    by_kind = {(it.group, it.kind): it for it in conversions}
    schemas = {
        (str(crd.spec.get("group")), str(crd.names.get("kind")), str(version.get("name"))): as_map(
            as_map(version.get("schema")).get("openAPIV3Schema")
        )
        for crd in crds
        for version in map(as_map, crd.spec.get("versions") or [])
    }
    for path in sorted((cwd / _SAMPLES).glob("*.y*ml")):
        for document in read_documents(path, cwd, Findings()):
            sample = as_map(document.data)
            group, _, version = str(sample.get("apiVersion")).rpartition("/")
            conversion = by_kind.get((group, str(sample.get("kind"))))
            if conversion is None or version not in conversion.versions:
                continue  # said of the sample already, where it is wrong
            for other in conversion.versions:
                schema = schemas.get((group, conversion.kind, other), {})
                for why in _faults(conversion, sample, other, schema):
                    what = f"this {conversion.kind} does not fit at `{other}`: {why}"
                    findings.error(document.file, document.line(), what)


def _faults(conversion: Conversion, sample: Json, version: str, schema: Json) -> list[str]:
    try:
        converted = conversion.convert(sample, version)
    except ConversionError as error:
        return [error.message]
    parts = as_map(schema.get("properties"))
    return [
        str(misfit)
        for part in ("spec", "status")
        if part in converted
        for misfit in misfits(converted[part], as_map(parts.get(part)), (part,))
    ]
