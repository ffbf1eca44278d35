"""Compares conversions.yaml with the CRDs: every field of either version has its place in the other.

It finds here what would otherwise fail in the cluster: the API server silently drops a field without a
rule when a client first reads the object at the other version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall.conversion import (
    Conversion,
    ConversionError,
    Each,
    FieldPath,
    NamedRule,
    Rule,
    VersionStep,
    path_text,
)
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall_dev.checks.crds import PRESERVE, Crd
from rolecall_dev.checks.round_trips import round_trips, shortest
from rolecall_dev.sources import Findings, as_map, misfits, read_documents, read_folder

_META = ("apiVersion", "kind", "metadata")
_OPEN: Json = {PRESERVE: True}
TRIALS = 100  # objects of each version: 20 ms for a usual kind


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two versions of a step."""

    version: str
    other: str
    schema: Json
    rules: Mapping[FieldPath, NamedRule]  # by the field that each takes or gives here


def check_conversions(
    conversions: Sequence[Conversion],
    file: str,
    crds: Sequence[Crd],
    findings: Findings,
    trials: int = TRIALS,
) -> None:
    """Report differences after a conversion to the other version and back."""
    for crd in crds:
        _check_storage(crd, findings)
    for conversion in conversions:
        kinds = (conversion.group, conversion.kind)
        found = [it for it in crds if (it.spec.get("group"), it.names.get("kind")) == kinds]
        if not found:
            what = f"no CRD of kind `{conversion.kind}` in group `{conversion.group}` was found"
            findings.error(file, _line(conversion), what)
            continue
        before = len(findings.problems)
        _check_versions(conversion, found[0], file, findings)
        for step in conversion.steps:
            _check_step(step, found[0], file, findings)
        if len(findings.problems) == before:
            _try_objects(conversion, found[0], (file, trials), findings)
    _check_unconverted(conversions, file, crds, findings)


def _check_storage(crd: Crd, findings: Findings) -> None:
    stored = [str(it.get("name")) for it in _versions(crd) if it.get("storage")]
    if len(stored) != 1:
        names = ", ".join(f"`{name}`" for name in stored) or "no version"
        findings.error(
            *crd.document.place("spec", "versions"),
            f"{names} of `{crd.names.get('kind')}` is stored, and it must be exactly one",
            hint="set `storage: true` at the version that the operator watches",
        )


def _check_unconverted(
    conversions: Sequence[Conversion], file: str, crds: Sequence[Crd], findings: Findings
) -> None:
    """Versions that differ and have no conversion: what one alone has is dropped at the other."""
    known = {(conversion.group, conversion.kind) for conversion in conversions}
    for crd in crds:
        served = [it for it in _versions(crd) if it.get("served")]
        if len(served) < 2 or (crd.spec.get("group"), crd.names.get("kind")) in known:
            continue
        schemas = [_without_words(_schema(it)) for it in served]
        if any(schema != schemas[0] for schema in schemas):
            names = ", ".join(f"`{it.get('name')}`" for it in served)
            findings.warn(
                *crd.document.place("spec", "versions"),
                f"{names} of `{crd.names.get('kind')}` differ, and nothing converts between them: "
                "the API server drops what the other version does not have",
                hint=f"write the rules into {file}",
            )


def _check_versions(conversion: Conversion, crd: Crd, file: str, findings: Findings) -> None:
    there = {str(it.get("name")) for it in _versions(crd)}
    for version in [it for it in conversion.versions if it not in there]:
        findings.error(
            file, _line(conversion), f"version `{version}` of `{conversion.kind}` is not in its CRD"
        )
    for version in sorted(there - {*conversion.versions}):
        findings.error(
            file,
            _line(conversion),
            f"version `{version}` of `{conversion.kind}` has no step",
            hint="each version of the CRD is one of a chain, from the oldest to the newest",
        )


def _check_step(step: VersionStep, crd: Crd, file: str, findings: Findings) -> None:
    schemas = {str(it.get("name")): _schema(it) for it in _versions(crd)}
    if not {step.older, step.newer} <= schemas.keys():
        return  # reported already
    older = _side(step, schemas, is_older=True)
    newer = _side(step, schemas, is_older=False)
    _check_fields(step.rules, older, newer, file, findings)
    for mine, other in ((older, newer), (newer, older)):
        for path, words in _uncovered(mine.schema, other.schema, mine, other, ()):
            findings.error(
                file,
                step.rules[0].line if step.rules else None,
                f"`{path_text(path)}` of `{mine.version}` {words}",
                hint=f"write a rule for it, or `keep: {path_text(path)}` with `of: {mine.version}`",
            )


def _try_objects(
    conversion: Conversion, crd: Crd, file_and_trials: tuple[str, int], findings: Findings
) -> None:
    """What the schemas do not show: a pattern that does not fit, a join that is no inverse."""
    schemas = {str(it.get("name")): _schema(it) for it in _versions(crd)}
    file, trials = file_and_trials
    if different := list(round_trips(conversion, schemas, trials, seed=1)):
        findings.error(file, _line(conversion), str(shortest(different)))


def _side(step: VersionStep, schemas: Mapping[str, Json], *, is_older: bool) -> _Side:
    version, other = (step.older, step.newer) if is_older else (step.newer, step.older)
    rules = {
        path: named
        for named in step.rules
        for path in (named.rule.older if is_older else named.rule.newer)
    }
    return _Side(version, other, schemas[version], rules)


def _check_fields(
    rules: Sequence[NamedRule], older: _Side, newer: _Side, file: str, findings: Findings
) -> None:
    for named in rules:
        _check_paths(named.rule, (older, newer), (file, named.line), findings)
        if isinstance(named.rule, Each):
            _check_items(named, older, newer, file, findings)


def _check_paths(
    rule: Rule, sides: Sequence[_Side], place: tuple[str, int], findings: Findings, above: str = ""
) -> None:
    """Every field that a rule names is in the schema of its version."""
    for side, paths in zip(sides, (rule.older, rule.newer), strict=True):
        for path in paths:
            if _at(side.schema, path) is None:
                what = f"`{above}{path_text(path)}` is not in the schema of `{side.version}`"
                findings.error(*place, what)


def _check_items(
    named: NamedRule, older: _Side, newer: _Side, file: str, findings: Findings
) -> None:
    assert isinstance(named.rule, Each)
    path = named.rule.path
    sides = []
    for side, is_older in ((older, True), (newer, False)):
        items = as_map((_at(side.schema, path) or {}).get("items"))
        rules = {
            inner: named
            for rule in named.rule.rules
            for inner in (rule.older if is_older else rule.newer)
        }
        sides.append(_Side(side.version, side.other, items, rules))
    above = f"{path_text(path)}[]."
    for rule in named.rule.rules:
        _check_paths(rule, sides, (file, named.line), findings, above)
    for mine, other in (sides, sides[::-1]):
        for inner, words in _uncovered(mine.schema, other.schema, mine, other, ()):
            shown = above + path_text(inner)
            findings.error(file, named.line, f"`{shown}` of `{mine.version}` {words}")


def _uncovered(
    mine: Json, theirs: Json, side: _Side, other: _Side, above: FieldPath
) -> Iterator[tuple[FieldPath, str]]:
    """Fields of this version that no rule takes and the other version has not, or differently."""
    properties = as_map(mine.get("properties"))
    known = as_map(theirs.get("properties"))
    for name, schema in properties.items():
        path = (*above, name)
        if path in side.rules or (not above and name in _META):
            continue
        found = known.get(name, _OPEN if theirs.get(PRESERVE) else None)
        is_taken_there = path in other.rules
        if any(rule[: len(path)] == path for rule in side.rules):
            yield from _uncovered(as_map(schema), as_map(found), side, other, path)
        elif found is None or is_taken_there:
            yield path, f"is in no rule, and `{side.other}` has no such field"
        elif found.get("type") not in (None, as_map(schema).get("type")):
            yield path, f"is in no rule, and has another type in `{side.other}`"
        else:
            yield from _deeper(as_map(schema), as_map(found), side, other, path)


def _deeper(
    mine: Json, theirs: Json, side: _Side, other: _Side, path: FieldPath
) -> Iterator[tuple[FieldPath, str]]:
    if theirs.get(PRESERVE):
        return
    yield from _uncovered(mine, theirs, side, other, path)
    for inner in ("items", "additionalProperties"):
        ours, found = as_map(mine.get(inner)), as_map(theirs.get(inner))
        name = f"{path[-1]}[]" if inner == "items" else f"{path[-1]}.*"
        if ours and found:
            yield from _deeper(ours, found, side, other, (*path[:-1], name))


def _at(schema: Json, path: FieldPath) -> Json | None:
    """The schema of a field; an empty one where any field is allowed; None where it is not there."""
    found = schema
    for name in path:
        if found.get(PRESERVE):
            return {}
        inner = as_map(found.get("properties")).get(name, found.get("additionalProperties"))
        if not isinstance(inner, dict):
            return None
        found = inner
    return found


def _versions(crd: Crd) -> list[Json]:
    return [as_map(version) for version in crd.spec.get("versions") or []]


def _schema(version: Json) -> Json:
    return as_map(as_map(version.get("schema")).get("openAPIV3Schema"))


def _without_words(schema: object) -> object:
    """Without what only people read."""
    if isinstance(schema, dict):
        # A property may be called `description` itself; then it is a map.
        return {
            key: _without_words(value)
            for key, value in schema.items()
            if key not in ("description", "title", "example") or isinstance(value, dict)
        }
    return [_without_words(item) for item in schema] if isinstance(schema, list) else schema


def _line(conversion: Conversion) -> int | None:
    return conversion.line or None


# Versions of a kind beyond its own file: samples at each of them, and those that were shipped before.
# A version may be dropped from a CRD only where no object is stored at it: the API server refuses the
# CRD else, and the release with it. The bundle that is checked in says what was shipped last.

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
                _report_dropped_fields(crd, version, findings)


def _report_dropped_fields(crd: Crd, version: Json, findings: Findings) -> None:
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
    """Warn about kinds without a watch: they are converted, too, but most are a typo."""
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
                    findings.error(*document.place(), what)


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
