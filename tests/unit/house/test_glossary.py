"""A word that is not used is found wherever it stands."""

from __future__ import annotations

import pytest
from tools import glossary
from tools.glossary import Banned

from tests.unit.house.documents import ROOT

TABLE = """
| word | meaning | not |
|---|---|---|
| *event recorder* | posts Events about a `CR` | teller*, desk |
| *step* | one of a row | stage* (build stage, stage of kwok), go stock |
| *run* | one play | |
"""


def faults(text: str) -> list[str]:
    return glossary.faults([("a.py", text)], glossary.banned(TABLE))


def test_last_column_is_the_list() -> None:
    assert list(glossary.banned(TABLE)) == [
        Banned("teller*"),
        Banned("desk"),
        Banned("stage*", ("build stage", "stage of kwok")),
        Banned("go stock"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "class EventTeller: ...",
        "def tellers_of(it): ...",
        "_DESK_FILE = 1",
        '"""Put it onto the desk."""',
        "# Desk, see there",
        "a run may go\nstock",
        "build the stage",
    ],
)
def test_word_is_found_in_names_and_in_prose(text: str) -> None:
    (line,) = faults(text)
    assert line.startswith("a.py: `")
    assert "docs/glossary.md" in line


@pytest.mark.parametrize(
    "text",
    ["desktop", "storyteller", "the build stage", "stage of KWOK", "build_stage, build_stage"],
)
def test_other_words_and_allowed_phrases_are_let_pass(text: str) -> None:
    assert not faults(text)


def test_yaml_is_read_for_plain_english_only() -> None:
    names = {name for name, _ in glossary.own_texts(glossary.OTHER_SUFFIXES)}
    assert {"watches.yaml", "crds/etcdclusters.yaml", "Makefile"} <= names
    text = (ROOT / "docs" / "glossary.md").read_text()
    words = {each.word for each in glossary.banned(glossary.plain_english_of(text))}
    assert {"told", "tells", "nobody", "whoever", "somebody"} <= words
    assert len(words) < len(list(glossary.banned(text)))


def test_our_glossary_bans_something_and_names_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text()
    assert len(list(glossary.banned(text))) > 10
    words = [line.split("*")[1] for line in text.splitlines() if line.startswith("| *")]
    assert len(words) == len(set(words)) > 10
