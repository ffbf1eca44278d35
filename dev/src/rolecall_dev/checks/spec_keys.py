"""What becomes of a CRD's spec keys on their way to a role's variables.

The conversion to snake case is for names that the author chose. It also changes names that are data
(labels, node selectors) and names from Kubernetes (`imagePullPolicy` in a pod template), which then
lose their meaning. `_<group>_<kind>_spec` contains them unconverted. We report nothing about a role
that uses that variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.runner import OwnNames, cr_variable, snake_case
from rolecall.watches import Watch
from rolecall_dev.checks.crds import PRESERVE, CrdVersion
from rolecall_dev.sources import Findings, as_map

# Fields that hold parts of Kubernetes objects wherever they appear.
_FIELDS = """
affinity containers env envFrom initContainers livenessProbe podSecurityContext podTemplate
readinessProbe securityContext startupProbe strategy tolerations topologySpreadConstraints
volumeClaimTemplate volumeClaimTemplates volumeMounts volumes
"""
_KUBERNETES_FIELDS = frozenset(_FIELDS.split())


@dataclass(frozen=True, slots=True)
class _Place:
    """One property somewhere below spec."""

    path: tuple[str, ...]
    schema: Json

    def __str__(self) -> str:
        return ".".join(("spec", *self.path)).replace(".[]", "[]")


def check_spec_keys(watch: Watch, version: CrdVersion, play_text: str, findings: Findings) -> None:
    """Report keys that collide, that lose their meaning, or that a role never sees."""
    spec = version.schema("spec")
    _check_hidden(watch, version, spec, findings)
    if not watch.snake_case_parameters:
        return
    for place in _below(_Place((), spec)):
        _check_collisions(place, version, findings)
    variable = f"{cr_variable(watch.gvk)}_spec"
    if reads_unconverted(watch, play_text):
        return
    lossy = [f"{place}: {why}" for place, why in _lossy(_Place((), spec))]
    if lossy:
        findings.warn(
            *version.place("spec"),
            f"snake case changes keys in the spec of `{watch.gvk.kind}` that are not yours to name",
            details=lossy,
            hint=f"read them from `{variable}`, which is not converted",
        )


def reads_unconverted(watch: Watch, play_text: str) -> bool:
    """Whether a play uses the variable with the CR or its spec as it was written."""
    return (
        re.search(rf"(?<!\w){re.escape(cr_variable(watch.gvk))}(_spec)?\b", play_text) is not None
    )


def variable_of(watch: Watch, key: str) -> str:
    """The variable that a spec key becomes."""
    return snake_case(key) if watch.snake_case_parameters else key


def _check_hidden(watch: Watch, version: CrdVersion, spec: Json, findings: Findings) -> None:
    finalizer_vars = watch.finalizer.vars if watch.finalizer else {}
    for key in as_map(spec.get("properties")):
        name = variable_of(watch, key)
        why = ""
        if name.startswith("ansible_"):
            why = "it would configure Ansible itself"
        elif name in watch.vars:
            why = "`vars` of the watch has the same name"
        elif name in finalizer_vars:
            why = "`vars` of the finalizer has the same name when the object is deleted"
        if why:
            line = version.line("spec", key)
            what = f"`spec.{key}` will not reach the role as `{name}`: {why}"
            findings.warn(version.file, line, what)


def _below(place: _Place) -> Iterator[_Place]:
    """The place itself and everything below it."""
    yield place
    for name, schema in as_map(place.schema.get("properties")).items():
        yield from _below(_Place((*place.path, name), as_map(schema)))
    items = as_map(place.schema.get("items"))
    if items:
        yield from _below(_Place((*place.path, "[]"), items))


def _check_collisions(place: _Place, version: CrdVersion, findings: Findings) -> None:
    keys_of: dict[str, list[str]] = {}
    for key in as_map(place.schema.get("properties")):
        keys_of.setdefault(snake_case(key), []).append(key)
    for name, keys in keys_of.items():
        if len(keys) > 1:
            listed = " and ".join(f"`{key}`" for key in keys)
            findings.warn(
                *version.place("spec", *place.path, keys[-1]),
                f"{listed} in `{place}` both become `{name}`; only one of them reaches the role",
                hint="rename one of them",
            )


def _lossy(place: _Place) -> Iterator[tuple[_Place, str]]:
    """Places whose keys mean something only as they were written; nothing below such a place."""
    if place.path:
        why = _why_lossy(place)
        if why:
            yield place, why
            return
    for name, schema in as_map(place.schema.get("properties")).items():
        yield from _lossy(_Place((*place.path, name), as_map(schema)))
    items = as_map(place.schema.get("items"))
    if items:
        yield from _lossy(_Place((*place.path, "[]"), items))


def _why_lossy(place: _Place) -> str:
    schema = place.schema
    properties = as_map(schema.get("properties"))
    if schema.get("x-kubernetes-embedded-resource") or {"apiVersion", "kind"} <= properties.keys():
        return "a Kubernetes object"
    name = next((step for step in reversed(place.path) if step != "[]"), "")
    if name in _KUBERNETES_FIELDS and _changes_below(place):
        return "part of a Kubernetes object"
    if schema.get("additionalProperties"):
        return "a map whose keys are data"
    if schema.get(PRESERVE) and not properties and schema.get("type") in (None, "object"):
        return "free-form"
    return ""


def _changes_below(place: _Place) -> bool:
    """Whether any key below would be renamed, or may be because the schema does not name it."""
    return any(
        it.schema.get(PRESERVE)
        or it.schema.get("additionalProperties")
        or any(snake_case(key) != key for key in as_map(it.schema.get("properties")))
        for it in _below(place)
    )


# Kinds whose `spec` takes keys that the CRD does not declare.
# Anyone who can create such a CR chooses those keys, and each becomes a variable of the play. The
# engine withholds them where they would replace what the play sets itself; the Go operator passes
# them.

_MOST_SHOWN = 5


def check_open_spec(watch: Watch, version: CrdVersion, findings: Findings) -> None:
    """Warn where such keys may be those that the play sets itself."""
    spec, root = version.schema("spec"), version.schema()
    decides = spec or root  # where the schema has no `spec` at all, the root decides
    is_open = decides.get(PRESERVE) or decides.get("additionalProperties")
    if not (is_open or version.crd.spec.get("preserveUnknownFields")):
        return
    declared = {variable_of(watch, key) for key in as_map(spec.get("properties"))}
    own = {name: place for play in watch.cr_plays for name, place in OwnNames(play).places.items()}
    undeclared = sorted((name, place) for name, place in own.items() if name not in declared)
    if not undeclared:
        return
    rest = len(undeclared) - _MOST_SHOWN
    findings.warn(
        *version.place("spec"),
        f"`spec` of `{watch.gvk.kind}` takes keys that the CRD does not declare; those that the play"
        + (
            " sets itself are overridden, as `specOverridesRole` is set"
            if watch.spec_overrides_role
            else " sets itself are not passed to it"
        ),
        details=[
            *(f"`{name}`, set in {place}" for name, place in undeclared[:_MOST_SHOWN]),
            *([f"and {rest} more"] if rest > 0 else []),
        ],
        hint=f"declare the fields of `spec`, and remove `{PRESERVE}` from it",
    )
