"""Reads YAML files of users: every value knows its line, and all problems are reported at once."""

from rolecall.documents.duration import DurationError, format_duration, parse_duration
from rolecall.documents.expansion import expand, unset_names
from rolecall.documents.fields import Fields
from rolecall.documents.keys import Form, YamlKey
from rolecall.documents.maps import MapList, read_maps, read_text
from rolecall.documents.nodes import NOTHING, ShapeError, compose_first, json_value
from rolecall.documents.report import Report

__all__ = [
    "NOTHING",
    "DurationError",
    "Fields",
    "Form",
    "MapList",
    "Report",
    "ShapeError",
    "YamlKey",
    "compose_first",
    "expand",
    "format_duration",
    "json_value",
    "parse_duration",
    "read_maps",
    "read_text",
    "unset_names",
]
