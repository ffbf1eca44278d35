"""Hears of CRDs that come, change and go, so that nobody has to look for them.

One stream over the metadata of all CRDs, which is small; their schemas, which are not, stay where
they are. The name of a CRD is `<plural>.<group>`, so metadata says whose kinds changed.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import ForbiddenError, WatchEvent

Json = dict[str, Any]
CRDS = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
_logger = logging.getLogger(__name__)


class KindsHearer(Protocol):
    """Who is told."""

    def on_kinds_changed(self, group: str) -> None:
        """Something about a kind of this group changed, or it is new."""
        ...

    def on_kind_removed(self, plural: str, group: str) -> None:
        """A kind is gone, with all its objects."""
        ...

    def on_deaf(self, is_deaf: bool) -> None:
        """Whether changes are heard of at all."""
        ...


class Kinds:
    """A listener of the CRDs' stream."""

    wants_metadata_only = True

    def __init__(self, hearer: KindsHearer) -> None:
        self._hearer = hearer
        self._versions: dict[str, str] = {}  # of each CRD by name
        self._unlisted: set[str] = set()

    def on_list_begins(self) -> None:
        """Whatever is not listed now went while nobody listened."""
        self._unlisted = set(self._versions)

    def on_listed(self, item: Json) -> None:
        """Compare with what was known."""
        self._unlisted.discard(item["metadata"]["name"])
        self._note(item)

    def on_list_complete(self) -> None:
        """Tell what went."""
        for name in self._unlisted:
            self._lose(name)
        self._hearer.on_deaf(False)

    def on_event(self, event: WatchEvent) -> None:
        """A CRD came, changed or went."""
        if event.type == "DELETED":
            self._lose(event.object["metadata"]["name"])
        else:
            self._note(event.object)

    def on_trouble(self, failure: ClusterError) -> None:
        """Without the right to hear, kinds that are missing have to be looked for."""
        if isinstance(failure, ForbiddenError):
            self._hearer.on_deaf(True)
            _logger.warning(
                "not allowed to hear of new CRDs, so a kind that comes later is found within 30 s",
                extra={"fields": {"why": failure.message, "rule": failure.rule}},
            )

    def _note(self, crd: Json) -> None:
        name, version = crd["metadata"]["name"], crd["metadata"]["resourceVersion"]
        if self._versions.get(name) != version:
            self._versions[name] = version
            self._hearer.on_kinds_changed(name.partition(".")[2])

    def _lose(self, name: str) -> None:
        if self._versions.pop(name, None) is not None:
            plural, _, group = name.partition(".")
            self._hearer.on_kind_removed(plural, group)
            self._hearer.on_kinds_changed(group)
