"""Turns `watches.yaml` into frozen `Watch` values, or a list of located problems."""

from rolecall.watches.collections import collection_faults
from rolecall.watches.extension_keys import ExtensionKeys, KeptThings, MissingKeys
from rolecall.watches.keys import (
    ENTRY_KEYS,
    FINALIZER_KEYS,
    KIND_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
)
from rolecall.watches.kind_lists import read_kinds
from rolecall.watches.load import load_watches
from rolecall.watches.model import (
    Finalizer,
    Requirement,
    Selector,
    Watch,
)
from rolecall.watches.overrides import EntryContext, WatchDefaults, variable_name
from rolecall.watches.play import Play
from rolecall.watches.plays import read_play
from rolecall.watches.search import SearchPath, SearchPaths, search_paths, skips_facts
from rolecall.watches.selectors import is_qualified_name, read_selector

__all__ = [
    "ENTRY_KEYS",
    "FINALIZER_KEYS",
    "KIND_KEYS",
    "REQUIREMENT_KEYS",
    "SELECTOR_KEYS",
    "EntryContext",
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
    "is_qualified_name",
    "load_watches",
    "read_kinds",
    "read_play",
    "read_selector",
    "search_paths",
    "skips_facts",
    "variable_name",
]
