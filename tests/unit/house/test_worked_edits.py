"""The edits that `docs/kinds/change-a-role.md` shows apply to the roles as they are, in YAML alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.house.documents import ROOT

_DIFF = re.compile(r"^```diff\n--- (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EDITS = _DIFF.findall((ROOT / "docs/kinds/change-a-role.md").read_text())


def edited(text: str, diff: str) -> str:
    """The file after the edit; fails where the edit does not fit."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(before) == 1
    return text.replace(before, after)


def test_four_edits_are_shown() -> None:
    places = [Path(file).parent.name for file, _ in EDITS]
    assert len(EDITS) >= 4
    assert set(places) <= {"main", "vars", "defaults", "templates"}


@pytest.mark.parametrize(("file", "diff"), EDITS, ids=[file for file, _ in EDITS])
def test_edit_fits_the_role(file: str, diff: str) -> None:
    text = (ROOT / file).read_text()
    assert edited(text, diff) != text
