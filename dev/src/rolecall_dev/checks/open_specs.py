"""Kinds whose `spec` takes keys that the CRD does not declare.

Anyone who can create such a CR chooses those keys, and each becomes a variable of the play. The engine
withholds them where they would replace what the play sets itself; the Go operator passes them.
"""

from __future__ import annotations

from rolecall.runner import OwnNames
from rolecall.watches import Watch
from rolecall_dev.checks.crds import PRESERVE, CrdVersion
from rolecall_dev.checks.spec_keys import variable_of
from rolecall_dev.sources import Findings, as_map

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
        version.file,
        version.line("spec"),
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
