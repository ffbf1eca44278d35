"""Turns `watches.yaml` into frozen `Watch` values, or a list of located problems."""

from rolecall.watches.duration import DurationError, format_duration, parse_duration
from rolecall.watches.load import load_watches
from rolecall.watches.model import Finalizer, Play, Requirement, Selector, Watch
from rolecall.watches.overrides import WatchDefaults, variable_name
from rolecall.watches.schema import watches_schema

__all__ = [
    "DurationError",
    "Finalizer",
    "Play",
    "Requirement",
    "Selector",
    "Watch",
    "WatchDefaults",
    "format_duration",
    "load_watches",
    "parse_duration",
    "variable_name",
    "watches_schema",
]
