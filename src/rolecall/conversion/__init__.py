"""Converts custom resources between the versions of their kind, by the rules of `conversions.yaml`."""

from rolecall.conversion.convert import Conversion, ConversionError, NamedRule, Step
from rolecall.conversion.kept import PREFIX
from rolecall.conversion.keys import ENTRY_KEYS, RULE_KEYS, STEP_KEYS
from rolecall.conversion.load import FILE, load_conversions
from rolecall.conversion.paths import ABSENT, Path, look, path_text
from rolecall.conversion.rules import Each, OneSided, Rule

__all__ = [
    "ABSENT",
    "ENTRY_KEYS",
    "FILE",
    "PREFIX",
    "RULE_KEYS",
    "STEP_KEYS",
    "Conversion",
    "ConversionError",
    "Each",
    "NamedRule",
    "OneSided",
    "Path",
    "Rule",
    "Step",
    "load_conversions",
    "look",
    "path_text",
]
