"""Loads watches.yaml: every entry checked, or every fault of the file told at once.

Steps, as in the Go operator: read, splice the environment into the text, decode, apply defaults and
overrides, locate roles and playbooks, check. It stops at the first fault; here each step goes on for as
long as what follows still makes sense. Environment and working directory are handed in, so that the
result depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from rolecall.errors import Problem, ProblemsError
from rolecall.gvk import Gvk
from rolecall.watches.document import NOTHING, compose_first
from rolecall.watches.entry import EntryContext, read_entry
from rolecall.watches.expansion import expand
from rolecall.watches.model import Watch
from rolecall.watches.overrides import WatchDefaults
from rolecall.watches.report import Report


def load_watches(
    file: Path, environment: Mapping[str, str], defaults: WatchDefaults, cwd: Path
) -> tuple[list[Watch], list[Problem]]:
    """The watches and the warnings; raises `ProblemsError` with all problems and warnings."""
    report = Report(str(file))
    text = _read(cwd / file, report)
    watches = []
    if text is not None:
        expanded = expand(text, environment)
        report.located_in(expanded)
        context = EntryContext(environment, defaults, cwd, (cwd / file).parent)
        watches = [read_entry(node, context, report) for node in _entries(expanded.text, report)]
    _check_duplicates(watches, report)
    found = report.in_order()
    if report.has_errors:
        raise ProblemsError(found)
    return watches, found


def _read(path: Path, report: Report) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        report.error(
            None,
            f"could not be read: {error.strerror}",
            hint="name the file with `--watches-file`, or start in the project's folder",
        )
    except UnicodeDecodeError as error:
        report.error(error.object.count(b"\n", 0, error.start) + 1, "is not UTF-8 text")
    return None


def _entries(text: str, report: Report) -> list[yaml.MappingNode]:
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
    return _maps(root, report)


def _maps(root: yaml.Node | None, report: Report) -> list[yaml.MappingNode]:
    if root is None or root.tag == NOTHING:
        items = []
    elif isinstance(root, yaml.SequenceNode):
        items = root.value
    else:
        report.error(
            report.line(root),
            "must be a list of entries",
            hint="start each entry with `- version:`",
        )
        return []
    if not items:
        report.warn(
            None, "watches nothing", hint="add an entry with `group`, `version`, `kind`, `role`"
        )
    maps = []
    for node in items:
        if isinstance(node, yaml.MappingNode):
            maps.append(node)
        else:
            report.error(report.line(node), "an entry must be a map with `version`, `kind`, `role`")
    return maps


def _check_duplicates(watches: list[Watch], report: Report) -> None:
    first_of: dict[Gvk, Watch] = {}
    for watch in watches:
        first = first_of.setdefault(watch.gvk, watch)
        if first is not watch and watch.gvk.version and watch.gvk.kind:
            report.error(
                watch.line, f"duplicate GVK: {watch.gvk} is already watched on line {first.line}"
            )
