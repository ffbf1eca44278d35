"""config/webhooks as watches.yaml, conversions.yaml and the CRDs want it, and whether it is so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.conversion import Conversion
from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall.webhooks import webhooks_of
from rolecall_dev.admission_rules import policies_of, with_rules
from rolecall_dev.checks.crds import Crd
from rolecall_dev.sources import Findings, as_map
from rolecall_dev.webhook_manifests import (
    DEFAULT_OVERLAY,
    FOLDER,
    ITEM,
    KindCrd,
    OverlayNames,
    WebhookSubjects,
    manifest_files,
    overlay_names,
)

_MANAGER = Path("config/manager")
_RULES = "x-kubernetes-validations"
_WAY_OUT = "run `rolecall webhooks`"


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What the API server may be asked to ask for."""

    watches: Sequence[Watch]
    conversions: Sequence[Conversion]
    crds: Sequence[Crd]


def wanted_files(cwd: Path, asked: AskedFor) -> dict[str, str]:
    """All files of config/webhooks; none where the API server has nothing to ask."""
    default = cwd / DEFAULT_OVERLAY
    text = default.read_text(encoding="utf-8") if default.is_file() else ""
    names = overlay_names(text, DEFAULT_OVERLAY)
    subjects = _subjects(asked, names)
    if subjects.is_empty:
        return {}
    if not text:
        raise InputError(
            f"{DEFAULT_OVERLAY} is not there, which says how names begin in the cluster"
        )
    return manifest_files(subjects, names, _pod_labels(cwd))


def check_webhook_files(cwd: Path, asked: AskedFor, findings: Findings) -> None:
    """Of a project that is deployed by kustomize: another has manifests of its own."""
    if not (cwd / DEFAULT_OVERLAY).is_file():
        return
    try:
        wanted = wanted_files(cwd, asked)
    except InputError as error:
        findings.error(DEFAULT_OVERLAY, None, error.message, hint=error.hint)
        return
    there = {str(path.relative_to(cwd)) for path in (cwd / FOLDER).rglob("*.yaml")}
    if wanted and not there:
        findings.warn(
            DEFAULT_OVERLAY,
            None,
            f"{FOLDER} is not there, so in a cluster the API server cannot ask the operator",
            hint=_WAY_OUT,
        )
        return
    for file in sorted({*wanted, *there}):
        if file not in wanted:
            findings.error(file, None, "is not of these sources any more", hint=_WAY_OUT)
        elif file not in there or (cwd / file).read_text(encoding="utf-8") != wanted[file]:
            what = "is not what watches.yaml, conversions.yaml and the CRDs make of it"
            findings.error(file, None, what, hint=_WAY_OUT)
    if wanted and not _is_taken_up(cwd):
        what = f"`components` does not name `{ITEM}`, so {FOLDER} is deployed nowhere"
        findings.error(DEFAULT_OVERLAY, None, what, hint=_WAY_OUT)


def _subjects(asked: AskedFor, names: OverlayNames) -> WebhookSubjects:
    rows = [
        KindCrd(str(it.spec.get("group")), str(it.names.get("kind")), it.plural)
        for it in asked.crds
    ]
    kinds = {(kind.group, kind.kind): kind for kind in rows}
    converted = [(it.group, it.kind) for it in asked.conversions]
    webhooks = webhooks_of(asked.watches)
    known = [it for it in asked.watches if (it.gvk.group, it.gvk.kind) in kinds]
    policies = policies_of(
        known, lambda gvk: kinds[gvk.group, gvk.kind].plural, own_user=names.user
    )
    return WebhookSubjects(
        [kinds[key] for key in converted if key in kinds],
        [(it, kinds[it.group, it.kind]) for it in webhooks if (it.group, it.kind) in kinds],
        [_prefixed(each, names) for each in policies],
        [patch for crd in asked.crds for patch in _rules_patch(crd, asked.watches)],
    )


def _prefixed(policy: Json, names: OverlayNames) -> Json:
    """kustomize does not know that a binding names a policy, to which it adds the prefix."""
    spec = policy["spec"]
    if "policyName" not in spec:
        return policy
    return {**policy, "spec": {**spec, "policyName": names.prefix + spec["policyName"]}}


def _rules_patch(crd: Crd, watches: Sequence[Watch]) -> Iterator[tuple[str, list[Json]]]:
    """Rules of the schema, where watches.yaml has some: for a JSON patch of the CRD."""
    data = as_map(crd.document.data)
    before, after = data["spec"]["versions"], with_rules(data, watches)["spec"]["versions"]
    steps = [
        {
            "op": "add",
            "path": f"/spec/versions/{at}/schema/openAPIV3Schema/{_RULES}",
            "value": new["schema"]["openAPIV3Schema"][_RULES],
        }
        for at, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new
    ]
    if steps:
        yield str(as_map(data.get("metadata")).get("name")), steps


def _pod_labels(cwd: Path) -> Mapping[str, str]:
    """By which the operator's Deployment knows its pods."""
    for path in sorted((cwd / _MANAGER).glob("*.y*ml")):
        try:
            documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        except yaml.YAMLError as error:
            raise InputError(f"{path.relative_to(cwd)} is not valid YAML: {error}") from error
        for document in map(as_map, documents):
            if document.get("kind") == "Deployment":
                selector = as_map(as_map(document.get("spec")).get("selector"))
                return {str(k): str(v) for k, v in as_map(selector.get("matchLabels")).items()}
    raise InputError(
        f"{_MANAGER} has no Deployment, so the labels of the operator's pods are unknown"
    )


def _is_taken_up(cwd: Path) -> bool:
    found = yaml.safe_load((cwd / DEFAULT_OVERLAY).read_text(encoding="utf-8"))
    return ITEM in (as_map(found).get("components") or [])
