"""A resource: a kind as the API server serves it, with its plural, its scope and what it allows.

Paths are built here and nowhere else, so that a name can never break out of its segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from rolecall.gvk import Gvk

_WATCHABLE = frozenset({"get", "list", "watch"})


@dataclass(frozen=True, slots=True)
class Resource:
    """One row of the server's discovery, subresources folded in."""

    gvk: Gvk
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()  # plural, singular, short names, categories

    @property
    def is_watchable(self) -> bool:
        """Whether it can be read, listed and watched; access reviews, for one, cannot."""
        return self.verbs >= _WATCHABLE

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path below the server's base; without a name, that of the collection."""
        root = f"/apis/{self.gvk.group}" if self.gvk.group else "/api"
        segments = [root, self.gvk.version]
        if self.namespaced and namespace:
            segments += ["namespaces", quote(namespace, safe="")]
        segments.append(self.plural)
        if name:
            segments.append(quote(name, safe=""))
        if subresource:
            segments.append(subresource)
        return "/".join(segments)
