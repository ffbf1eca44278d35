from __future__ import annotations

from pathlib import Path

import pytest

from tests.play.plays import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A folder of the test's own, for stock runs."""
    return Workspace(tmp_path)
