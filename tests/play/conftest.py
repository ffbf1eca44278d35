from __future__ import annotations

from pathlib import Path

import pytest

from tests.play.plays import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A folder of the test's own, for stock runs."""
    return Stage(tmp_path)
