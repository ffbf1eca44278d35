"""What a key of one of our YAML files is: spelling, type, default, meaning.

Each file has one table of them; its reader, the warnings about unknown keys, the JSON Schema and the
reference page are all checked against it, so that none of them can know a key that another does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """What a value looks like; the value names it in the reference."""

    TEXT = "text"
    TRUTH = "true or false"
    WHOLE = "whole number"
    DURATION = "duration"
    MAP = "map"
    TEXTS = "list of texts"
    TEXT_OR_TEXTS = "text or list of texts"
    TEXT_MAP = "map of texts"
    FINALIZER = "finalizer"
    SELECTOR = "label selector"
    REQUIREMENTS = "list of requirements"
    KINDS = "list of kinds"
    STEPS = "list of steps"
    RULES = "list of rules"
    CONDITIONS = "list of match conditions"
    TRUTH_OR_KINDS = "true or false, or list of kinds"
    TRUTH_KINDS_OR_MAP = "true or false, list of kinds, or a map"
    ANYTHING = "any value"
    UNUSED = "anything"


@dataclass(frozen=True, slots=True)
class YamlKey:
    """One key; `default` is spelled as in the file, empty where there is none."""

    name: str
    form: Form
    default: str
    meaning: str
    is_ours: bool = False  # the Go operator ignores it
    choices: tuple[str, ...] = ()
    is_required: bool = False
    inside: tuple[YamlKey, ...] = ()  # of the map, or the maps of a list, that the value may be
    # For a key without effect: the flag and the environment variable's prefix that have one.
    instead: tuple[str, str] = ("", "")
