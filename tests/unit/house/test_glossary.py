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


MESSAGES = '''
"""The stagehand reads it at the desk."""
KEY = "desk"
def f():
    """Desk."""
    raise InputError(f"{KEY}: the teller wrote it")  # desk
'''


def test_messages_are_texts_of_several_words_without_docstrings() -> None:
    assert list(glossary.messages_in(MESSAGES)) == [": the teller wrote it"]


def test_messages_are_read_in_the_engine_and_its_tools() -> None:
    names = [
        "src/rolecall/a.py",
        "dev/src/rolecall_dev/b.py",
        "tests/unit/c.py",
        "src/rolecall/d.md",
    ]
    texts = [(name, f"{name}\n{MESSAGES}") for name in names]
    lines = glossary.faults(glossary.own_messages(texts), [Banned("teller"), Banned("desk")])
    assert [line.partition(":")[0] for line in lines] == names[:2]


def test_our_glossary_bans_something_and_names_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text()
    assert len(list(glossary.banned(text))) > 10
    words = [line.split("*")[1] for line in text.splitlines() if line.startswith("| *")]
    assert len(words) == len(set(words)) > 10
