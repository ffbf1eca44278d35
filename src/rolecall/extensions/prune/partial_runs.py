"""Whether arguments of ansible-playbook make every run do only a part of what its play does.

What such a run did not touch may be wanted all the same, so nothing is pruned after it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

_OPTIONS = {"t": "--tags", "C": "--check", "l": "--limit"}
_LONG = ("--tags", "--skip-tags", "--start-at-task", "--check", "--limit", "--step")
_TAKES_VALUE = "eiuMfcT"  # what follows in the same word is their value
_SHORTEST = 4  # `--ta`; argparse takes what is unique
_VARIABLES = ("ANSIBLE_RUN_TAGS", "ANSIBLE_SKIP_TAGS")


def partial_by(ansible_args: str, environment: Mapping[str, str]) -> str:
    """The option or variable that does so; empty where none does."""
    try:
        words = shlex.split(ansible_args)
    except ValueError:
        words = ansible_args.split()
    found = next((option for word in words if (option := _option_of(word))), "")
    return found or next((name for name in _VARIABLES if environment.get(name)), "")


def _option_of(word: str) -> str:
    if word.startswith("--"):
        name = word.partition("=")[0]
        is_known = len(name) >= _SHORTEST
        return next((each for each in _LONG if is_known and each.startswith(name)), "")
    if word.startswith("-"):
        for letter in word[1:]:
            if letter in _OPTIONS:
                return _OPTIONS[letter]
            if letter in _TAKES_VALUE:
                break
    return ""
