"""The reference pages are the code's own words."""

from __future__ import annotations

import pytest
from tools.write_reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_says_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run `python -m tools.write_reference`"
