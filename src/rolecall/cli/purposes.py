"""What `rolecall` alone, and `rolecall --help`, say: the commands by what people want."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple


class Purpose(Enum):
    """What a command is for; the value heads it in the help."""

    LOOK = "look at a running operator"
    ACT = "change what it does"
    RUN = "run an operator, or a role"
    WRITE = "write an operator"
    PACK = "package an operator"
    CLUSTER = "clusters for tests"
    OTHER = "other"


class CommandModule(NamedTuple):
    """Where the parser of a command is, its line in the help, and what it is for."""

    module: str
    summary: str
    purpose: Purpose = Purpose.OTHER


def by_purpose(known: Mapping[str, CommandModule], endings: Sequence[str]) -> str:
    """All commands under what they are for."""
    width = max(map(len, known))
    lines = ["Runs Kubernetes operators written in Ansible."]
    for purpose in Purpose:
        rows = [
            f"    {name:<{width}}  {command.summary}"
            for name, command in known.items()
            if command.purpose is purpose
        ]
        if rows:
            lines += ["", f"  {purpose.value}:", *rows]
    return "\n".join([*lines, "", *endings])
