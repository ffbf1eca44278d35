"""What to do where a play names something that does not exist: a collection, a role, an argument.

Ansible says what it could not find and where it looked, and leaves open whether the name is misspelt or
something is missing, and how that is mended where an operator runs. A failure is read when it happens
and not when the engine starts, so the way out stands in each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

_REBUILD = "and install it, or build the operator's image anew"
_PARTS_OF_FULL_NAME = 3

_UNSUPPORTED = re.compile(
    r"Unsupported parameters for \([\w.]+\) module: (?P<names>[\w., ]+?)\."
    r" Supported parameters include: (?P<known>[\w(), ]+)"
)
_CHATTER = re.compile(r" ?This often indicates a misspelling[^.]*(?:\.|$)")


def way_out_of_missing(message: str) -> str:
    """What to do, where a failure is that something was not found; else nothing."""
    for pattern, advise in _ADVICE:
        if found := pattern.search(message):
            return advise(found["name"])
    if found := _UNSUPPORTED.search(message):
        return _arguments(found["names"], found["known"])
    return ""


def without_guesses(message: str) -> str:
    """The message without Ansible's list of what it may mean: the way out says it."""
    return _CHATTER.sub("", message)


def _plugin(name: str) -> str:
    parts = name.split(".")
    if len(parts) < _PARTS_OF_FULL_NAME:
        return (
            f"check the spelling of `{name}`, or write its full name (`namespace.collection.{name}`)"
            " and add that collection to requirements.yml"
        )
    collection, plugin = ".".join(parts[:2]), ".".join(parts[2:])
    if collection in ("ansible.builtin", "ansible.legacy"):
        return f"ansible-core has no `{plugin}`: check its spelling (`ansible-doc --list`)"
    return (
        f"add `{collection}` to requirements.yml {_REBUILD};"
        f" where it is installed, check the spelling of `{plugin}`"
    )


def _role(name: str) -> str:
    parts = name.split(".")
    if len(parts) < _PARTS_OF_FULL_NAME:
        return f"add the role as roles/{name}, or list it in requirements.yml {_REBUILD}"
    return _plugin(name)


def _arguments(names: str, known: str) -> str:
    """The nearest argument for each name that has one."""
    supported = re.findall(r"\w+", known)
    nearest = {name: get_close_matches(name, supported, n=1) for name in re.findall(r"\w+", names)}
    hints = [f"`{near[0]}` for `{name}`" for name, near in nearest.items() if near]
    return f"did you mean {', '.join(hints)}?" if hints else ""


def _library(name: str) -> str:
    return f"install the Python package `{name}` beside rolecall, or in the operator's image"


_ADVICE: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = tuple(
    (re.compile(pattern), advise)
    for pattern, advise in (
        (r"couldn't resolve module/action '(?P<name>[\w.]+)'", _plugin),
        (r"The (?:lookup|callback|connection) plugin '(?P<name>[\w.]+)' was not found", _plugin),
        (r"lookup plugin \((?P<name>[\w.]+)\) not found", _plugin),
        (r"[Nn]o (?:filter|test) named '(?P<name>[\w.]+)'", _plugin),
        (r"the role '(?P<name>[\w.-]+)' was not found", _role),
        (r"Failed to import the required Python library \((?P<name>[\w.-]+)", _library),
    )
)
