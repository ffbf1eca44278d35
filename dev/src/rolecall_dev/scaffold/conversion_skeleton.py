"""conversions.yaml for a further version: a step without rules, which converts by name alone.

Two versions that are the same need no rules, so what is written round-trips; rules come with changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import yaml

from rolecall.conversion import CONVERSIONS_FILE
from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall_dev.scaffold.changes import Changes

_HEAD = """\
---
# How the versions of kinds become each other, both ways: the operator converts by these rules.
# `rolecall check` holds them against the CRDs, and tries them with random objects: --round-trips 1000
# tries more.
"""
_COMMENT = """\
# What differs between the two; all else is the same in both. Such as:
#   - {rename: spec.size, to: spec.replicas}
#   - {keep: spec.debug, of: OLDER}"""


def add_step(changes: Changes, gvk: Gvk, versions: Sequence[str]) -> None:
    """From the newest version so far to the one that is added; those before get steps as well."""
    file = str(CONVERSIONS_FILE)
    text = changes.text_of(file)
    if text is None:
        changes.add(file, _HEAD + _entry(gvk, [*versions, gvk.version]))
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
    comment = _COMMENT.replace("OLDER", older).splitlines()
    lines = [
        f"- older: {older}",
        f"  newer: {newer}",
        *(f"  {it}" for it in comment),
        "  rules: []",
    ]
    return [indent + line for line in lines]


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
