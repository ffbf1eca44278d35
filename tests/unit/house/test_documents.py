"""Everything that the documents name is there: paths, links, make targets, commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from rolecall.cli import commands, parser_for
from rolecall.cli.parsers import parsers_in
from tests.unit.house import documents
from tests.unit.house.documents import ROOT, Mention

DOCUMENTS = documents.documents()
in_every_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS]
)


def expect_none(missing: Iterable[Mention]) -> None:
    assert not (lines := [str(mention) for mention in missing]), "\n".join(lines)


@in_every_document
def test_path_exists(document: Path) -> None:
    expect_none(it for it in documents.paths(document) if not (ROOT / it.text).exists())


@in_every_document
def test_link_leads_somewhere(document: Path) -> None:
    expect_none(it for it in documents.links(document) if not (document.parent / it.text).exists())


@in_every_document
def test_make_target_exists(document: Path) -> None:
    of_new_projects = ROOT / "dev/src/rolecall_dev/scaffold/templates/init/Makefile"
    makefile = of_new_projects if document.name == "new-operator.md" else ROOT / "Makefile"
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile.read_text(), re.MULTILINE))
    expect_none(it for it in documents.make_targets(document) if it.text not in targets)


@in_every_document
def test_command_exists_with_its_flags(document: Path) -> None:
    expect_none(it for it in documents.own_commands(document) if not is_understood(it.text))


def is_understood(command: str) -> bool:
    """Whether every verb and flag of the command is one that the parser knows."""
    words = command.split()[1:]
    if not words or words[0].startswith("-"):
        return True
    if words[0] not in commands():
        return False
    parser = parser_for(words)
    for word in words:
        verbs = parsers_in(parser)
        if word.startswith("--") and word != "--help":
            if word.split("=")[0] not in parser._option_string_actions:
                return False
        elif verbs and not word.startswith("-"):
            if word not in verbs:
                return False
            parser = verbs[word]
        if parser.prog.endswith("kubectl"):
            return True  # the rest is kubectl's
    return True


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rolecall cluster up --nodes 3", True),
        ("rolecall cluster up --knots 3", False),
        ("rolecall cluster sideways", False),
        ("rolecall klaster up", False),
        ("rolecall --version", True),
        ("rolecall cluster kubectl get nodes --all-namespaces", True),
    ],
)
def test_commands_are_really_looked_at(command: str, expected: bool) -> None:
    assert is_understood(command) is expected


def test_makefile_lists_every_target_with_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = set(re.findall(r"^\.PHONY: ([a-z0-9-]+)$", makefile, re.MULTILINE))
    described = set(re.findall(r"^([a-z0-9-]+):.*?## \S", makefile, re.MULTILINE))
    assert phony == described


def test_ci_runs_what_the_readme_promises_and_the_tests_last() -> None:
    commands = re.findall(
        r"^(?:part )?make (\S+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE
    )
    promised = re.findall(r"^\$ make (\S+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(promised) <= set(commands)
    assert commands[-1] == "test"


def test_readme_of_a_folder_fits_a_screen() -> None:
    long = [path for path in DOCUMENTS if path.name == "README.md" and path.parent != ROOT]
    expect_none(Mention(path, "README") for path in long if len(path.read_text().splitlines()) > 30)
