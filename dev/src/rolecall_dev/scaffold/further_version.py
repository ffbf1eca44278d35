"""A further version of a kind that the project has: the CRD serves both, one of them is stored.

The new version begins as a copy of the stored one, and the API server converts between them by the
version's name alone. `watches.yaml` keeps its one entry: a watch of either version sees every custom
resource, so a second entry would run the role twice for each change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import yaml

from rolecall.conversion import CONVERSIONS_FILE
from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.templates import rendered

_BASES = "config/crd/bases"
_SAMPLES = "config/samples"


@dataclass(frozen=True, slots=True)
class KnownCrd:
    """The CRD of a kind, as it is in the project."""

    file: str
    text: str
    versions: tuple[str, ...]


def find_crd(changes: Changes, gvk: Gvk) -> KnownCrd | None:
    """The CRD that has the kind, in whatever version."""
    for path in sorted((changes.root / _BASES).glob("*.y*ml")):
        file = f"{_BASES}/{path.name}"
        text = changes.text_of(file) or ""
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError:
            continue  # several documents, or none: not one that we wrote
        spec = data.get("spec") if isinstance(data, dict) else None
        if not isinstance(spec, dict) or not isinstance(spec.get("versions"), list):
            continue
        kind = (spec.get("names") or {}).get("kind")
        if (spec.get("group"), kind) == (gvk.group, gvk.kind):
            return KnownCrd(file, text, tuple(str(it.get("name")) for it in spec["versions"]))
    return None


def add_version(changes: Changes, crd: KnownCrd, gvk: Gvk, sample: str) -> None:
    """Edit the CRD and write a sample; nothing else of the kind changes."""
    changes.edit(crd.file, _with_version(crd, gvk.version))
    changes.add(f"{_SAMPLES}/{sample}.yaml", _sample(changes, gvk))


def _with_version(crd: KnownCrd, version: str) -> str:
    """The text with a copy of the stored version behind the last one."""
    before = yaml.safe_load(crd.text)
    rows = _rows_of_versions(crd)
    stored = next(at for at, it in enumerate(before["spec"]["versions"]) if it.get("storage"))
    lines = crd.text.splitlines()
    copied = lines[rows[stored][0] : rows[stored][1]]
    name = before["spec"]["versions"][stored]["name"]
    text = "\n".join(copied) + "\n"
    text = re.sub(
        rf"(?m)^(\s*(?:- )?name:\s*){re.escape(name)}\b", rf"\g<1>{version}", text, count=1
    )
    text = re.sub(r"(?m)^(\s*(?:- )?storage:\s*)true\b", r"\g<1>false", text, count=1)
    end = rows[-1][1]
    after = "\n".join([*lines[:end], text.rstrip("\n"), *lines[end:]]) + "\n"
    copy = {**before["spec"]["versions"][stored], "name": version, "storage": False}
    before["spec"]["versions"].append(copy)
    if _loaded(after) != before:
        raise _by_hand(crd, version)
    return after


def _loaded(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _rows_of_versions(crd: KnownCrd) -> list[tuple[int, int]]:
    """First line of each version, and the line behind its last."""
    node: Any = yaml.compose(crd.text)
    for step in ("spec", "versions"):
        node = next(value for key, value in node.value if key.value == step)
    if node.flow_style:
        raise _by_hand(crd, "the new version")
    starts = [item.start_mark.line for item in node.value]
    end = node.end_mark.line + (node.end_mark.column > 0)
    if end == starts[-1]:
        raise _by_hand(crd, "the new version")
    return list(zip(starts, [*starts[1:], end], strict=True))


def _by_hand(crd: KnownCrd, version: str) -> InputError:
    return InputError(
        f"nothing was written, since {crd.file} could not be extended without rewriting it",
        hint=f"copy the stored version under `spec.versions`, with `name: {version}` and"
        " `storage: false`",
    )


def _sample(changes: Changes, gvk: Gvk) -> str:
    """The sample of another version under a name of its own; a bare one where there is none."""
    name = f"{gvk.kind.lower()}-{gvk.version}-sample"
    for path in sorted((changes.root / _SAMPLES).glob("*.y*ml")):
        text = changes.text_of(f"{_SAMPLES}/{path.name}") or ""
        data = _loaded(text)
        if not isinstance(data, dict) or data.get("kind") != gvk.kind:
            continue
        if Gvk.parse(str(data.get("apiVersion")), gvk.kind).group == gvk.group:
            old = str((data.get("metadata") or {}).get("name"))
            text = re.sub(r"(?m)^apiVersion:.*$", f"apiVersion: {gvk.api_version}", text, count=1)
            return re.sub(
                rf"(?m)^(\s+name:\s*){re.escape(old)}\s*$", rf"\g<1>{name}", text, count=1
            )
    metadata = f"metadata:\n  name: {name}\n"
    return f"---\napiVersion: {gvk.api_version}\nkind: {gvk.kind}\n{metadata}spec: {{}}\n"


# conversions.yaml for a further version: a step without rules, which converts by name alone.
# Two versions that are the same need no rules, so what is written round-trips; rules come with
# changes.


def add_step(changes: Changes, gvk: Gvk, versions: Sequence[str]) -> None:
    """From the newest version so far to the one that is added; those before get steps as well."""
    file = str(CONVERSIONS_FILE)
    text = changes.text_of(file)
    if text is None:
        changes.add(file, _template("head.yaml") + _entry(gvk, [*versions, gvk.version]))
        return
    steps = _steps(text, gvk, file)
    if steps is None:
        after = text.rstrip("\n") + "\n" + _entry(gvk, [*versions, gvk.version])
    else:
        after = _with_step(text, steps, gvk.version, file)
    changes.edit(file, after)


def _entry(gvk: Gvk, versions: Sequence[str]) -> str:
    lines = [f"- group: {gvk.group}", f"  kind: {gvk.kind}", "  steps:"]
    for older, newer in pairwise(versions):
        lines += _step(older, newer, "    ")
    return "\n".join(lines) + "\n"


def _step(older: str, newer: str, indent: str) -> list[str]:
    text = _template("step.yaml", older, newer)
    return [indent + line for line in text.splitlines()]


def _template(name: str, older: str = "", newer: str = "") -> str:
    return rendered("conversions", {"older": older, "newer": newer})[name]


def _steps(text: str, gvk: Gvk, file: str) -> yaml.SequenceNode | None:
    """Where the steps of the kind are written; None where it has none."""
    try:
        root = yaml.compose(text)
    except yaml.YAMLError as error:
        raise InputError(f"{file} is not valid YAML: {error}") from error
    for entry in root.value if isinstance(root, yaml.SequenceNode) else []:
        fields = {key.value: value for key, value in entry.value}
        names = [getattr(fields.get(name), "value", "") for name in ("group", "kind")]
        steps = fields.get("steps")
        if names == [gvk.group, gvk.kind] and isinstance(steps, yaml.SequenceNode):
            return steps
    return None


def _with_step(text: str, steps: yaml.SequenceNode, version: str, file: str) -> str:
    lines = text.rstrip("\n").split("\n")
    last = {key.value: value.value for key, value in steps.value[-1].value} if steps.value else {}
    end = steps.end_mark.line + (steps.end_mark.column > 0)
    while end and not lines[min(end, len(lines)) - 1].strip():
        end -= 1
    step = _step(str(last.get("newer")), version, " " * steps.start_mark.column)
    after = "\n".join([*lines[:end], *step, *lines[end:]]) + "\n"
    if steps.flow_style or not last or _count(after) != _count(text) + 1:
        raise InputError(
            f"nothing was written, since {file} could not be extended without rewriting it",
            hint=f"add a step with `newer: {version}` by hand, and try again",
        )
    return after


def _count(text: str) -> int:
    try:
        return sum(len(entry["steps"]) for entry in yaml.safe_load(text))
    except (yaml.YAMLError, LookupError, TypeError):
        return -1
