"""All code logs in one way: by the module's `_logger`, and fields through `log_fields`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MODULES = [
    path
    for source in (ROOT / "src", ROOT / "dev" / "src")
    for path in source.rglob("*.py")
    if "ansible_collections" not in path.parts and path.name != "log_fields.py"
]


def lines_with(pattern: str) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in MODULES
        for line in path.read_text().splitlines()
        if found.search(line)
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?!_logger = )\w+ = logging\.getLogger\(",
        r"\bextra=(\{|dict\()",
        r"(?<![\w.])logging\.(debug|info|warning|error|exception|critical)\(",
    ],
)
def test_all_modules_log_one_way(pattern: str) -> None:
    assert lines_with(pattern) == []


def test_loggers_are_found_at_all() -> None:
    assert lines_with(r"^_logger = logging\.getLogger\(")
