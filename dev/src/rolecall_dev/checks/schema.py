"""The JSON Schemas of watches.yaml and conversions.yaml, made from tables of keys.

For editors and for tests. They are stricter than the loader if that helps the author: one spelling for
each key, and no unknown keys. They accept all that the loader accepts without a warning. A value that
consists only of `${NAME}` is valid everywhere, because the environment decides its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rolecall.conversion import CONVERSION_KEYS, RULE_KEYS, STEP_KEYS
from rolecall.documents import Form, YamlKey
from rolecall.extending import watch_keys
from rolecall.json_object import Json
from rolecall.watches import (
    ENTRY_KEYS,
    FINALIZER_KEYS,
    KIND_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
)

_FROM_ENVIRONMENT = r"^\$(\{[^}]+\}|[A-Za-z_][A-Za-z0-9_]*)$"
_DURATION = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
_NESTED = {Form.FINALIZER: "finalizer", Form.SELECTOR: "selector"}


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


_TRUTH: Json = _ref("truth")
_KINDS: Json = {"type": "array", "items": _ref("kindName")}
_TEXT: Json = {"type": ["string", "number", "boolean"]}
_OF_CONVERSIONS: dict[Form, Json] = {
    Form.TEXT: _TEXT,
    Form.TRUTH: {"type": "boolean"},
    Form.TEXTS: {"type": "array", "items": _TEXT},
    Form.TEXT_MAP: {"type": "object", "additionalProperties": _TEXT},
    Form.STEPS: {"type": "array", "minItems": 1, "items": _ref("step")},
    Form.RULES: {"type": "array", "items": _ref("rule")},
    Form.ANYTHING: {},
}


def watches_schema() -> Json:
    of_extensions = [key for each in watch_keys() for key in each.keys]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "watches.yaml",
        "description": "Which kinds an operator watches, and which role or playbook runs for each.",
        "type": ["array", "null"],
        "items": _ref("entry"),
        "$defs": {
            "entry": _map((*ENTRY_KEYS, *of_extensions)) | _one_play(),
            "finalizer": _map(FINALIZER_KEYS) | _one_play("vars"),
            "selector": _map(SELECTOR_KEYS),
            "requirement": _map(REQUIREMENT_KEYS),
            "kindName": _map(KIND_KEYS),
            **{key.name: _inside(key) for key in of_extensions if key.inside},
            "text": {"type": ["string", "number", "boolean"]},
            "truth": _or_environment({"type": "boolean"}),
            "whole": _or_environment({"type": "integer"}),
            "duration": _or_environment({"type": "string", "pattern": _DURATION}),
        },
    }


def conversions_schema() -> Json:
    """Stricter than the loader nowhere: what it takes, this takes."""
    as_map = partial(_map, value_of=lambda key: _OF_CONVERSIONS[key.form])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "conversions.yaml",
        "description": "How the versions of custom resources become each other.",
        "type": ["array", "null"],
        "items": _ref("entry"),
        "$defs": {
            "entry": as_map(CONVERSION_KEYS),
            "step": as_map(STEP_KEYS),
            "rule": {"oneOf": [_ref(f"rule-{name}") for name in RULE_KEYS]},
            **{f"rule-{name}": as_map(keys) for name, keys in RULE_KEYS.items()},
        },
    }


def _map(keys: Sequence[YamlKey], value_of: Callable[[YamlKey], Json] | None = None) -> Json:
    """`value_of`: the schema of a key's value; default: as in watches.yaml."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key.name for key in keys if key.is_required],
        "properties": {key.name: _property(key, value_of or _value) for key in keys},
    }


def _inside(key: YamlKey) -> Json:
    """A map that may name a play names one, or has rules instead."""
    names = {each.name for each in key.inside}
    return _map(key.inside) | (_one_play(*(names & {"rules"})) if "role" in names else {})


def _one_play(*also: str) -> Json:
    return {"anyOf": [{"required": [name]} for name in ("role", "playbook", *also)]}


def _or_environment(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "string", "pattern": _FROM_ENVIRONMENT}]}


def _property(key: YamlKey, value_of: Callable[[YamlKey], Json]) -> Json:
    default = f" (default: {key.default})" if key.default else ""
    described: Json = {"description": key.meaning + default}
    if key.form is Form.UNUSED:
        return described | {"deprecated": True}
    value = value_of(key)
    if key.is_required or not value:
        return described | value
    return described | {"anyOf": [value, {"type": "null"}]}


def _value(key: YamlKey) -> Json:
    if key.form is Form.TRUTH_KINDS_OR_MAP:
        words = [{"const": word} for word in key.choices]
        return {"anyOf": [_TRUTH, *words, _KINDS, _ref(key.name)]}
    if key.choices:
        return _or_environment({"enum": list(key.choices)})
    if key.inside:
        is_map = key.form is Form.MAP
        return _ref(key.name) if is_map else {"type": "array", "items": _map(key.inside)}
    if key.form in _NESTED:
        return _ref(_NESTED[key.form])
    texts = {"type": "array", "items": _ref("text")}
    simple: dict[Form, Json] = {
        Form.REQUIREMENTS: {"type": "array", "items": _ref("requirement")},
        Form.KINDS: _KINDS,
        Form.TRUTH_OR_KINDS: {"anyOf": [_TRUTH, _KINDS]},
        Form.TEXT: _ref("text"),
        Form.TRUTH: _ref("truth"),
        Form.WHOLE: _ref("whole"),
        Form.DURATION: _ref("duration"),
        Form.MAP: {"type": "object"},
        Form.TEXTS: texts,
        Form.TEXT_OR_TEXTS: {"anyOf": [_ref("text"), texts]},
        Form.TEXT_MAP: {"type": "object", "additionalProperties": _ref("text")},
    }
    return simple[key.form]
