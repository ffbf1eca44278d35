"""Reports CRDs that come, change and go, so that no other part has to look for them.

One stream over the metadata of all CRDs, which is small; their schemas, which are not, stay where
they are. The name of a CRD is `<plural>.<group>`, so metadata says whose kinds changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, WatchEvent
from rolecall.log_fields import log_fields

CRDS = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
_logger = logging.getLogger(__name__)


class KnownCrds:
    """The CRDs, as their informer last reported them."""

    wants_metadata_only = True

    def __init__(
        self, on_changed: Callable[[str], None], on_removed: Callable[[str, str], None]
    ) -> None:
        """`on_changed` gets the group of each event; `on_removed` also the plural of a deleted kind."""
        self._on_changed = on_changed
        self._on_removed = on_removed
        self._versions: dict[str, str] = {}  # of each CRD by name
        self._unlisted: set[str] = set()

    def on_list_begins(self) -> None:
        self._unlisted = set(self._versions)

    def on_listed(self, item: Json) -> None:
        self._unlisted.discard(item["metadata"]["name"])
        self._learn(item)

    def on_list_complete(self) -> None:
        for name in self._unlisted:
            self._lose(name)

    def on_event(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self._lose(event.object["metadata"]["name"])
        else:
            self._learn(event.object)

    def on_trouble(self, failure: ClusterError) -> None:
        """Without word of CRDs, kinds that are missing are found by looking for them."""
        if isinstance(failure, ForbiddenError):
            _logger.warning(
                "not allowed to watch CRDs, so a kind that is installed later is found within 30 s",
                extra=log_fields(why=failure.message, rule=failure.rule),
            )

    def on_synced(self, is_synced: bool) -> None:
        """Ignored: nothing waits for it."""

    def _learn(self, crd: Json) -> None:
        name, version = crd["metadata"]["name"], crd["metadata"].get("resourceVersion")
        if version is None or self._versions.get(name) != version:
            self._versions[name] = str(version)
            self._on_changed(name.partition(".")[2])

    def _lose(self, name: str) -> None:
        if self._versions.pop(name, None) is not None:
            plural, _, group = name.partition(".")
            self._on_removed(plural, group)
            self._on_changed(group)
