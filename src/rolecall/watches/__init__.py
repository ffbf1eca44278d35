"""Turns `watches.yaml` into frozen `Watch` values, or a list of located problems."""

from rolecall.watches.collections import collection_faults
from rolecall.watches.duration import DurationError, format_duration, parse_duration
from rolecall.watches.keys import (
    ENTRY_KEYS,
    FINALIZER_KEYS,
    KIND_KEYS,
    REQUIREMENT_KEYS,
    SELECTOR_KEYS,
    Form,
    YamlKey,
)
from rolecall.watches.load import load_watches
from rolecall.watches.model import Finalizer, Play, Requirement, Selector, Watch
from rolecall.watches.overrides import WatchDefaults, variable_name
from rolecall.watches.search import SearchPath, SearchPaths, search_paths

__all__ = [
    "ENTRY_KEYS",
    "FINALIZER_KEYS",
    "KIND_KEYS",
    "REQUIREMENT_KEYS",
    "SELECTOR_KEYS",
    "DurationError",
    "Finalizer",
    "Form",
    "Play",
    "Requirement",
    "SearchPath",
    "SearchPaths",
    "Selector",
    "Watch",
    "WatchDefaults",
    "YamlKey",
    "collection_faults",
    "format_duration",
    "load_watches",
    "parse_duration",
    "search_paths",
    "variable_name",
]
