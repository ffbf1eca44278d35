"""CRs on their way into a play: the file of extra vars, read back by Ansible itself.

What is read back must be what the CR says, none of its text may be a template, and no key of its spec
may set what is not the CR's to set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from rolecall.runner.params import Unsafe, cr_variable, extra_vars, snake_cased
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must
from tests.unit.runner.cases import APP, app, run_request

_MARKS = ("{{", "{%", "{#")
_OURS = {"from_vars": "{{ 1 }}", "state": "present"}
_TAKES_TRUST = "trusted_as_template" in signature(DataLoader.load_from_file).parameters


def _make(dice: Dice) -> dict[str, Any]:
    cr = app(dice.map() if dice.happens(0.95) else dice.tree())
    cr["metadata"] |= dice.pick(
        ({}, {"annotations": {dice.key(): dice.text()}}, {"name": dice.text()})
    )
    if dice.happens(0.5):
        cr["status"] = dice.tree()
    if dice.happens(0.2):
        cr[dice.key()] = dice.tree()
        cr["metadata"] = cr["metadata"] if isinstance(cr.get("metadata"), dict) else {"name": "x"}
    # The API server hands on no half of a character.
    text = json.dumps(cr, ensure_ascii=False).encode("utf-16", "surrogatepass")
    cr = json.loads(text.decode("utf-16", "replace"))
    return {"cr": cr, "snake": dice.happens(0.8), "trusted": dice.happens(0.1)}


@contextmanager
def _open(folder: Path) -> Iterator[Check]:
    file = folder / "extravars"

    def read() -> Any:
        trust = {"trusted_as_template": True} if _TAKES_TRUST else {}
        return DataLoader().load_from_file(str(file), cache="none", **trust)

    def check(case: Any) -> bool:
        cr, trusts = case["cr"], case["trusted"]
        watched = {"snake_case_parameters": case["snake"], "vars": _OURS}
        before = json.dumps(cr)
        try:
            variables = extra_vars(run_request(cr, **watched), trust_cr_text=trusts)
            file.write_text(variables.dump(), encoding="utf-8")
            found = read()
        except (RecursionError, AnsibleError):
            must(trusts or _depth(cr) > 150, "only what is absurdly deep is refused")
            return False
        must(json.dumps(cr) == before, "the CR stays as it was")
        if trusts and "__ansible_" in before:
            return True  # users who may write it may use Ansible's own marks
        must(_same(found, variables.values), "what Ansible reads is what was sent")
        _check_names(found, cr, snake=case["snake"], trusts=trusts)
        if not trusts:
            _check_untrusted(variables.values, found)
        return True

    yield check


def _check_names(found: Any, cr: dict[str, Any], *, snake: bool, trusts: bool) -> None:
    name = cr_variable(APP)
    said = cr.get("spec")
    spec = said if isinstance(said, dict) else {}
    must(_same(found[name], cr), "the CR's variable is the CR")
    must(_same(found[f"{name}_spec"], spec), "its spec is its spec")
    must(all(found[key] == text for key, text in _OURS.items()), "vars of the watch win")
    asked = snake_cased(spec) if snake else spec
    theirs = set(found) - {"ansible_operator_meta", name, f"{name}_spec", *_OURS}
    must(theirs <= set(asked), "no variable comes from nowhere")
    if not trusts:
        must(
            not any(key.startswith("ansible_") for key in theirs), "no setting of Ansible comes in"
        )
    meta = found["ansible_operator_meta"]
    must(meta["name"] == str(cr["metadata"].get("name") or ""), "the CR's name is its name")


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        one, depth = pending.pop()
        deepest = max(deepest, depth)
        below = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        pending += [(each, depth + 1) for each in below]
    return deepest


def _same(one: Any, other: Any) -> bool:
    """Equal in type and value, not only by Python's `==`: True is not 1."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if list(map(str, left)) != list(map(str, right)):
                return False
            pending += zip(left.values(), right.values(), strict=True)
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right or _type_of(left) is not _type_of(right):
            return False
    return True


def _type_of(value: Any) -> type | None:
    """What Ansible's own kinds of texts and numbers are kinds of."""
    return next((each for each in (bool, float, int, str) if isinstance(value, each)), None)


def _check_untrusted(sent: Any, found: Any) -> None:
    pending = [(sent, found)]
    while pending:
        said, read = pending.pop()
        if isinstance(said, Unsafe):
            must(not _may_be_template(read), f"text of a CR is no template: {read!r:.80}")
        elif isinstance(said, dict):
            for key in (key for key in read if isinstance(key, str)):
                is_theirs = any(isinstance(each, Unsafe) and each == key for each in said)
                must(not (is_theirs and _may_be_template(key)), f"nor is a key: {key!r:.80}")
            pending += zip(said.values(), read.values(), strict=True)
        elif isinstance(said, list):
            pending += zip(said, read, strict=True)


def _may_be_template(text: Any) -> bool:
    if not any(mark in text for mark in _MARKS):
        return False
    if not _TAKES_TRUST:  # before ansible-core 2.19 what is marked is safe, after it what is not
        return not hasattr(text, "__UNSAFE__")
    from ansible._internal._datatag._tags import TrustedAsTemplate  # noqa: PLC0415

    return bool(TrustedAsTemplate.is_tagged_on(text))


CRS = EntryPoint("crs", _make, _open, cases=1500)
