"""The JSON Schema of conversions.yaml, made from the tables of its keys, for editors and for tests."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.conversion import CONVERSION_KEYS, RULE_KEYS, STEP_KEYS
from rolecall.documents import Form, YamlKey
from rolecall.json_object import Json

_TEXT: Json = {"type": ["string", "number", "boolean"]}
_VALUES: dict[Form, Json] = {
    Form.TEXT: _TEXT,
    Form.TRUTH: {"type": "boolean"},
    Form.TEXTS: {"type": "array", "items": _TEXT},
    Form.TEXT_MAP: {"type": "object", "additionalProperties": _TEXT},
    Form.STEPS: {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
    Form.RULES: {"type": "array", "items": {"$ref": "#/$defs/rule"}},
    Form.ANYTHING: {},
}


def conversions_schema() -> Json:
    """Stricter than the loader nowhere: what it takes, this takes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "conversions.yaml",
        "description": "How the versions of custom resources become each other.",
        "type": ["array", "null"],
        "items": {"$ref": "#/$defs/entry"},
        "$defs": {
            "entry": _map(CONVERSION_KEYS),
            "step": _map(STEP_KEYS),
            "rule": {"oneOf": [{"$ref": f"#/$defs/rule-{name}"} for name in RULE_KEYS]},
            **{f"rule-{name}": _map(keys) for name, keys in RULE_KEYS.items()},
        },
    }


def _map(keys: Sequence[YamlKey]) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key.name for key in keys if key.is_required],
        "properties": {key.name: _property(key) for key in keys},
    }


def _property(key: YamlKey) -> Json:
    default = f" (default: {key.default})" if key.default else ""
    described: Json = {"description": key.meaning + default}
    value = _VALUES[key.form]
    if key.is_required or not value:
        return described | value
    return described | {"anyOf": [value, {"type": "null"}]}
