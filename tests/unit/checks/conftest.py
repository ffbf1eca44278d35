from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checks.workshop import SOUND, Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A project without any fault, to break in one place at a time."""
    workshop = Workshop(tmp_path)
    for name, text in SOUND.items():
        workshop.write(name, text)
    return workshop
