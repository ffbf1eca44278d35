"""Remembers which filters and tests are Jinja's own: Ansible searches all its plugins for each first.

`default`, `int` and `length` are no plugins of Ansible's, but a project may bring one of that name,
which goes first. So each use of one has Ansible go through all of its own, a millisecond for each
name that a task uses. Here that search is made once. What the project brings is looked up before, as
always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2.filters import FILTERS
from jinja2.tests import TESTS

_OWN = {"filter": frozenset(FILTERS), "test": frozenset(TESTS)}


class JinjaNames:
    """What the search for a name of Jinja's came to, by kind and name."""

    def __init__(self) -> None:
        self._nothing: dict[tuple[str, str], Any] = {}

    def find(
        self, original: Callable[..., Any], loader: Any, name: str, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `Jinja2Loader.get_with_context`."""
        if args or more or name not in _OWN.get(loader.type, ()):
            return original(loader, name, *args, **more)
        known = self._nothing.get((loader.type, name))
        if known is not None:
            loader._ensure_non_collection_wrappers()
            if name not in loader._cached_non_collection_wrappers:
                return known
        result = original(loader, name)
        if result.object is None:
            self._nothing[loader.type, name] = result
        return result
