"""Mutants that no test can kill, each with its argument: they are not counted.

Who is listed here is found by what it changes, in which function; lines may move. A name that fits no
mutant any more is an error, since what it argued about is no longer there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.mutants.places import Name

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


def arguments(file: Path = EQUIVALENT) -> dict[Name, str]:
    """Each equivalent mutant with why it is one."""
    entries: list[dict[str, Any]] = yaml.safe_load(file.read_text()) or []
    found: dict[Name, str] = {}
    for entry in entries:
        for after in [entry["after"]] if isinstance(entry["after"], str) else entry["after"]:
            number = entry.get("number", 1)
            found[Name(entry["where"], entry["before"], after, number)] = entry["why"]
    return found


def gone(argued: Mapping[Name, str], where: str, there: Collection[Name]) -> list[Name]:
    """What is argued about though a room, or a file of one, has no such mutant."""
    return [name for name in argued if name.where.startswith(where) and name not in there]
