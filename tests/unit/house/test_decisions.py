"""Decisions are few, found by topic, and each mention leads to one that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.house.documents import ROOT, links
from tests.unit.house.test_shape import own_files

FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "README.md"
DECISIONS = sorted(path for path in FOLDER.glob("*.md") if path != INDEX)
SECTIONS = ["Example", "Forces", "Choice", "Rejected", "How we would notice that it was wrong"]
# "decision 0007", "docs/decisions/0007-...": links between documents are held elsewhere.
_MENTION = re.compile(r"\b[Dd]ecisions?[ /](\d{4}[\w.-]*)")


@pytest.mark.parametrize("path", DECISIONS, ids=[path.name for path in DECISIONS])
def test_decision_reports_what_was_rejected_and_how_it_would_show(path: Path) -> None:
    text = path.read_text()
    assert text.startswith(f"# {path.name.split('-')[0]} "), path.name
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS


def test_decisions_are_numbered_once_and_are_some_thirty() -> None:
    numbers = {path.name.split("-")[0] for path in DECISIONS}
    assert len(numbers) == len(DECISIONS) <= 36


def test_index_has_each_decision_once() -> None:
    assert sorted(it.text for it in links(INDEX)) == [path.name for path in DECISIONS]


def test_mentioned_decision_is_there() -> None:
    names = {path.name for path in DECISIONS}
    known = names | {name.split("-")[0] for name in names}
    missing = [
        f"{path.relative_to(ROOT)}: {mention}"
        for path in own_files((".py", ".md", ".toml", ".yaml", ".yml", ".sh", "Dockerfile"))
        if path != Path(__file__)
        for mention in _MENTION.findall(path.read_text())
        if mention.rstrip(".") not in known
    ]
    assert not missing, "\n".join(missing)
