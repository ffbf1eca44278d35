"""Turns `watches.yaml` into frozen `Watch` values, or a list of located problems."""

from rolecall.watches.collections import collection_faults
from rolecall.watches.extension_keys import ExtensionKeys, KeptThings, MissingKeys
from rolecall.watches.keys import (
    CEL_RULE_KEYS,
    CONDITION_KEYS,
    ENTRY_KEYS,
    FINALIZER_KEYS,
    KIND_KEYS,
    MUTATE_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
    VALIDATE_KEYS,
)
from rolecall.watches.kind_lists import read_kinds
from rolecall.watches.load import load_watches
from rolecall.watches.model import (
    Admission,
    AdmissionRule,
    Finalizer,
    Play,
    Requirement,
    Selector,
    Watch,
)
from rolecall.watches.overrides import WatchDefaults, variable_name
from rolecall.watches.search import SearchPath, SearchPaths, search_paths

__all__ = [
    "CEL_RULE_KEYS",
    "CONDITION_KEYS",
    "ENTRY_KEYS",
    "FINALIZER_KEYS",
    "KIND_KEYS",
    "MUTATE_KEYS",
    "REQUIREMENT_KEYS",
    "SELECTOR_KEYS",
    "VALIDATE_KEYS",
    "Admission",
    "AdmissionRule",
    "ExtensionKeys",
    "Finalizer",
    "KeptThings",
    "MissingKeys",
    "Play",
    "Requirement",
    "SearchPath",
    "SearchPaths",
    "Selector",
    "Watch",
    "WatchDefaults",
    "collection_faults",
    "load_watches",
    "read_kinds",
    "search_paths",
    "variable_name",
]
