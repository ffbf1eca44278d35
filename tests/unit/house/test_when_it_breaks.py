"""The page of what breaks has a section for each breakage, with the words that its test looks for."""

from __future__ import annotations

import re

import pytest

from tests.e2e.breakages import BREAKAGES, Breakage
from tests.unit.house.documents import ROOT

_REFUSED = "A custom resource that is refused"


def sections() -> dict[str, str]:
    """By heading; lines are joined, since `kubectl describe` breaks them."""
    _, *parts = (ROOT / "docs/guides/when-it-breaks.md").read_text().split("\n## ")
    return {
        title: " ".join(text.split()) for title, _, text in (it.partition("\n") for it in parts)
    }


def test_sections_are_the_breakages() -> None:
    assert list(sections()) == [*(each.what for each in BREAKAGES), _REFUSED]


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda each: each.what)
def test_section_has_the_words_of_its_breakage(breakage: Breakage) -> None:
    text = sections()[breakage.what]
    words = (
        breakage.checked,
        breakage.got,
        *breakage.described,
        *breakage.listed,
    )
    assert [each for each in words if " ".join(each.split()) not in text] == []


def test_readme_shows_what_was_recorded() -> None:
    readme = (ROOT / "README.md").read_text()
    block = readme.partition("$ rolecall check\n")[2].partition("```")[0]
    recorded = (ROOT / "docs/guides/when-it-breaks.md").read_text()
    outputs = re.split(r"^\$ .*\n", block, flags=re.MULTILINE)
    assert len(outputs) == 2
    assert [output for output in outputs if output not in recorded] == []
