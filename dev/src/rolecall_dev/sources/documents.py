"""YAML files of a project, with the lines that messages need, and what checks found in them.

Tags that only Ansible knows (`!vault`, `!unsafe`) are read as the plain value below them. A file that
`ansible-vault` encrypted as a whole is no YAML and nothing to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import InputError, Problem
from rolecall.json_object import Json, as_map


# What the checks found: problems with their places, and what could not be looked at.
class Line(int):
    """The number of a line, with its column if the caller searched for it."""

    column: int | None

    def __new__(cls, number: int, column: int | None = None) -> Line:
        line = super().__new__(cls, number)
        line.column = column
        return line


class Findings:
    """Collects; the checks only add."""

    def __init__(self) -> None:
        # The check that is looking: machines sort by it.
        self.rule = ""
        self.problems: list[Problem] = []
        self.notes: list[str] = []  # no fault, but something was not checked
        # Something that keeps a kind from being reconciled.
        self.error = partial(self._add, is_warning=False)
        # Something that works differently from what its author may think.
        self.warn = partial(self._add, is_warning=True)

    @property
    def errors(self) -> list[Problem]:
        """Without the warnings."""
        return [problem for problem in self.problems if not problem.is_warning]

    def _add(
        self,
        file: str,
        line: int | None,
        what: str,
        *,
        is_warning: bool,
        details: Sequence[str] = (),
        hint: str = "",
    ) -> None:
        column = line.column if isinstance(line, Line) else None
        self.problems.append(
            Problem(file, line, what, tuple(details), hint, is_warning, column, self.rule)
        )


# YAML files of a project, with the lines that messages need.
# Tags that only Ansible knows (`!vault`, `!unsafe`) are read as the plain value below them. A file
# that `ansible-vault` encrypted as a whole is no YAML and nothing to check.

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: slower, same result
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

SUFFIXES = (".yaml", ".yml")


class _Loader(_SafeLoader):
    """Takes any tag."""


def _any_tag(loader: _Loader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_Loader.add_multi_constructor("", _any_tag)


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its data, and where each part of it is."""

    file: str  # as messages name it
    data: Any
    node: yaml.Node
    text: str = ""  # the whole file

    def line(self, *path: str | int) -> Line:
        """The line of the deepest part of `path` that is there."""
        node = self.node
        line = line_of(node)
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            line, node = child
        return line

    def place(self, *path: str | int) -> tuple[str, Line]:
        """The file and the line, as findings take them."""
        return self.file, self.line(*path)

    def node_at(self, *path: str | int) -> yaml.Node | None:
        """The part that is there."""
        node: yaml.Node | None = self.node
        for step in path:
            child = _child(node, step) if node is not None else None
            node = child[1] if child else None
        return node

    def find(self, name: str, node: yaml.Node) -> Line:
        """Where a node's text has a word first; where the node begins, if it has it nowhere."""
        rows = self.text.split("\n")
        word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        for number in range(node.start_mark.line, min(node.end_mark.line + 1, len(rows))):
            is_first = number == node.start_mark.line
            found = word.search(rows[number], node.start_mark.column if is_first else 0)
            if found:
                return Line(number + 1, found.start() + 1)
        return line_of(node)


def line_of(node: yaml.Node) -> Line:
    """Where a node begins."""
    return Line(node.start_mark.line + 1, node.start_mark.column + 1)


def _child(node: yaml.Node, step: str | int) -> tuple[Line, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return line_of(key), value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return line_of(item), item
    return None


def shown(path: Path, cwd: Path) -> str:
    """A path as messages name it."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


def read_documents(path: Path, cwd: Path, findings: Findings) -> list[Document]:
    """The documents of one file; reports invalid YAML, and then returns none."""
    file = shown(path, cwd)
    try:
        text = path.read_text(encoding="utf-8-sig")
        if text.startswith("$ANSIBLE_VAULT"):
            return []
        return list(_documents(file, text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = Line(mark.line + 1, mark.column + 1) if mark else None
        findings.error(file, line, f"is not valid YAML: {error.problem or error.context}")
    except (yaml.YAMLError, RecursionError) as error:
        findings.error(file, None, f"is not valid YAML: {type(error).__name__}")
    except (OSError, UnicodeDecodeError) as error:
        findings.error(file, None, f"could not be read: {error}")
    return []


def _documents(file: str, text: str) -> Iterator[Document]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                yield Document(file, loader.construct_document(node), node, text)
    finally:
        loader.dispose()


def read_folder(folder: Path, cwd: Path, findings: Findings) -> list[Document]:
    """The documents of all YAML files of a folder, in the order of their names."""
    paths = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    return [document for path in paths for document in read_documents(path, cwd, findings)]


# Where a project has its CRDs: ours first, then the Operator SDK's.
CRD_FOLDERS = (Path("crds"), Path("config/crd/bases"))
# The Deployment, and patches of it.
_DEPLOYMENT_FOLDERS = (Path("config/manager"), Path("config/default"))


def crd_folder(project: Path, who: str) -> Path:
    """The first that is there; `who` needs it."""
    found = next((project / name for name in CRD_FOLDERS if (project / name).is_dir()), None)
    if found is None:
        raise InputError(
            f"`{project}` has no CRDs: neither {' nor '.join(map(str, CRD_FOLDERS))} was found",
            hint=f"{who} installs them before it creates the samples",
        )
    return found


def kubectl_source(folder: Path) -> tuple[str, str]:
    """The arguments of `kubectl apply` for all that is in a folder."""
    return "-k" if (folder / "kustomization.yaml").exists() else "-f", str(folder)


def containers_of(project: Path) -> Iterator[tuple[Document, int, Json]]:
    """Those of the operator's Deployment and its patches, each with its place in a document."""
    for folder in (project / name for name in _DEPLOYMENT_FOLDERS):
        for document in read_folder(folder, project, Findings()) if folder.is_dir() else ():
            found: Any = document.data
            for step in ("spec", "template", "spec", "containers"):
                found = as_map(found).get(step)
            for number, container in enumerate(found if isinstance(found, list) else ()):
                yield document, number, as_map(container)


# Objects as YAML that people review: the same object gives the same bytes.
class _Dumper(yaml.SafeDumper):
    """Long texts as blocks, lists indented; no anchors, which some tools stumble over."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        return super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(document: Json, *, sort_keys: bool = True) -> str:
    """One document, without the line that begins it."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=sort_keys, width=110, allow_unicode=True)


_VALUE = re.compile(r"<<([a-z_]+)>>")


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """A template with its values, each in place of `<<name>>`; `KeyError` names one that is missing.

    Braces and dollars are for Ansible, Make, Prometheus and the shell, which templates are full of.
    """
    return _VALUE.sub(lambda match: values[match[1]], text)
