"""Copies and checks the keywords of tasks without asking about each that is not there.

A task has some sixty keywords, of which a role sets three. Ansible copies it twice for each run of it
and checks it with its block, keyword by keyword, each through four look-ups, a template and a change
of type: a tenth of what a task costs. Here, a keyword without a value, or with one that is already
what it must be and can hold no template, is taken as it is. All others go Ansible's way.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

# What a copy may share.
_SHARED = frozenset({bool, int, float, str, type(None), type})
# What holds no template, and is of its type already.
_PLAIN = {"bool": bool, "int": int, "float": float}
# Others, such as `include_role`, hold some keywords in ways of their own.
_KINDS = frozenset({"Block", "Handler", "PlayContext", "Task"})
_MODULES = (
    "ansible.playbook.block",
    "ansible.playbook.handler",
    "ansible.playbook.play_context",
    "ansible.playbook.task",
)
_COPIED = ("_loader", "_variable_manager", "_origin", "_validated", "_finalized", "_uuid", "_ds")


class Keyword(NamedTuple):
    """A keyword, where it is held, and how it is checked."""

    name: str
    held_as: str
    kept_as: tuple[str, ...]  # where setting it puts it
    is_checked: bool
    makes_default: bool  # a look at it leaves an empty value of its own there
    may_be_none: bool
    plain_type: type | None  # a value of this type is as it must be


def get_to_know() -> None:
    """Look at the classes ahead; they are imported."""
    for name in _MODULES:
        module = sys.modules.get(name)
        for kind in _KINDS & vars(module).keys() if module is not None else ():
            keywords_of(getattr(module, kind))


class Keywords:
    """Stands in for `copy` and `post_validate` of what has keywords."""

    def __init__(self, sentinel: Any) -> None:
        self._nothing = sentinel

    def copy(self, original: Callable[[Any], Any], thing: Any) -> Any:
        """Another one with the same values."""
        kind: Any = type(thing)
        if not _is_known(kind):
            return original(thing)
        try:
            made = kind()
        except (
            RuntimeError
        ):  # roles within roles without end, which Ansible reports in its own words
            return original(thing)
        source, target = vars(thing), vars(made)
        for keyword in keywords_of(kind):
            value = source.get(keyword.held_as, self._nothing)
            if type(value) not in _SHARED:
                value = copy.copy(value)
            for name in keyword.kept_as:
                target[name] = value
        for name in _COPIED:
            if name in source:
                target[name] = source[name]
        return made

    def post_validate(self, original: Callable[..., None], thing: Any, templar: Any) -> None:
        """Give each keyword the value that it comes to; from ansible-core 2.19 on."""
        kind: Any = type(thing)
        if not _is_known(kind) or not hasattr(kind, "post_validate_attribute"):
            original(thing, templar)
            return
        for keyword in keywords_of(kind):
            if keyword.is_checked:
                self._check(thing, keyword, templar)
            elif keyword.makes_default:
                getattr(thing, keyword.name)
        thing._finalized = True

    def _check(self, thing: Any, keyword: Keyword, templar: Any) -> None:
        value = getattr(thing, keyword.name)
        if value is None and keyword.may_be_none:
            return
        if keyword.plain_type is None or type(value) is not keyword.plain_type:
            value = thing.post_validate_attribute(keyword.name, templar=templar)
        if value is not self._nothing:
            setattr(thing, keyword.name, value)


def _is_known(kind: type) -> bool:
    return kind.__name__ in _KINDS and kind.__module__.startswith("ansible.playbook.")


@functools.cache
def keywords_of(kind: Any) -> tuple[Keyword, ...]:
    """The keywords of a class, in its order."""
    return tuple(_keyword(kind, name, each) for name, each in kind.fattributes.items())


def _keyword(kind: Any, name: str, attribute: Any) -> Keyword:
    own_check = getattr(kind, f"_post_validate_{name}", None)
    is_plain = own_check is None and not attribute.static
    return Keyword(
        name=name,
        held_as=f"_{name}",
        kept_as=tuple(f"_{each}" for each in (attribute.name, attribute.alias) if each),
        is_checked=_is_checked(kind, name, attribute),
        makes_default=callable(attribute.default),
        may_be_none=bool(attribute.static or not attribute.required),
        plain_type=_PLAIN.get(attribute.isa) if is_plain else None,
    )


def _is_checked(kind: Any, name: str, attribute: Any) -> bool:
    if attribute.static:
        return name != "vars"  # those are templated when they are used
    asked = getattr(kind, "_post_validate_object", True) or attribute.always_post_validate
    return bool(asked or attribute.required)
