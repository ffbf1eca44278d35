"""A file that is a list of maps: its text, and the nodes of its entries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.documents.nodes import NOTHING, compose_first
from rolecall.documents.report import Report


@dataclass(frozen=True, slots=True)
class MapList:
    """How messages name what the file should have."""

    entry: str  # the keys of an entry
    first: str  # the key that an entry begins with
    empty: str  # what a file without entries does
    wanted: str  # what to add to it


def read_text(path: Path, report: Report, *, hint: str) -> str | None:
    """The text; None where it was reported."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        report.error(None, f"could not be read: {error.strerror}", hint=hint)
    except UnicodeDecodeError as error:
        report.error(error.object.count(b"\n", 0, error.start) + 1, "is not UTF-8 text")
    return None


def read_maps(text: str, report: Report, wanted: MapList) -> list[yaml.MappingNode]:
    """The entries that are maps; everything else is reported."""
    try:
        root, second = compose_first(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = report.line_of_mark(mark.line) if mark else None
        report.error(line, f"is not valid YAML: {error.problem or error.context}")
        return []
    except yaml.reader.ReaderError as error:
        line = report.line_of_mark(text.count("\n", 0, error.position))
        report.error(line, f"is not valid YAML: character {error.character!r} is not allowed")
        return []
    except RecursionError:
        report.error(None, "is not valid YAML: the nesting is too deep")
        return []
    if second is not None:
        report.warn(report.line(second), "only the first document of this file is read")
    return _maps(root, report, wanted)


def _maps(root: yaml.Node | None, report: Report, wanted: MapList) -> list[yaml.MappingNode]:
    if root is None or root.tag == NOTHING:
        items = []
    elif isinstance(root, yaml.SequenceNode):
        items = root.value
    else:
        report.error(
            report.line(root),
            "must be a list of entries",
            hint=f"start each entry with `- {wanted.first}:`",
        )
        return []
    if not items:
        report.warn(None, wanted.empty, hint=f"add an entry with {wanted.wanted}")
    maps = []
    for node in items:
        if isinstance(node, yaml.MappingNode):
            maps.append(node)
        else:
            report.error(report.line(node), f"an entry must be a map with {wanted.entry}")
    return maps
