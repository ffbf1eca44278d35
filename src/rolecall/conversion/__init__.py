"""Converts custom resources between the versions of their kind, by the rules of `conversions.yaml`."""

from rolecall.conversion.convert import Conversion, ConversionError, NamedRule, VersionStep
from rolecall.conversion.kept import KEPT_PREFIX
from rolecall.conversion.keys import CONVERSION_KEYS, RULE_KEYS, STEP_KEYS
from rolecall.conversion.load import CONVERSIONS_FILE, load_conversions
from rolecall.conversion.paths import ABSENT, FieldPath, look, path_text
from rolecall.conversion.rules import Each, OneSided, Rule

__all__ = [
    "ABSENT",
    "CONVERSIONS_FILE",
    "CONVERSION_KEYS",
    "KEPT_PREFIX",
    "RULE_KEYS",
    "STEP_KEYS",
    "Conversion",
    "ConversionError",
    "Each",
    "FieldPath",
    "NamedRule",
    "OneSided",
    "Rule",
    "VersionStep",
    "load_conversions",
    "look",
    "path_text",
]
