"""Whether the API server will accept and keep what the engine writes into a kind's status.

A schema that does not name what is written makes the API server drop it without a word, and one that
wants more than is written makes it refuse every status. Both are told here, where the schema can still
be mended.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall_dev.checks.crds import PRESERVE, CrdVersion
from rolecall_dev.sources import Findings, as_map

_CONDITION_TEXTS = ("type", "status", "reason", "message", "lastTransitionTime")
_RESULT_COUNTS = ("ok", "changed", "skipped", "failures", "completion")
_CONDITION_TYPES = ("Running", "Successful", "Failure")


def check_status(watch: Watch, version: CrdVersion, findings: Findings) -> None:
    """Whether what the engine writes into status is accepted and kept."""
    if not watch.manage_status:
        return
    if "status" not in as_map(version.data.get("subresources")):
        findings.error(
            version.file,
            version.crd.document.line("spec", "versions", version.index),
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
            version.file,
            version.line("status", "conditions"),
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
        version.file,
        version.line(*path),
        f"the API server will drop {listed}, which the schema does not name",
        hint=f"add `{PRESERVE}: true` to `status`, or name the fields",
    )
