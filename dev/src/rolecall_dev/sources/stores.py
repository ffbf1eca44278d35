"""What watches have the engine keep in the operator's own namespace, and the rights that this takes.

One table for whoever writes rights and whoever checks them. The verbs stand beside the code that makes
the requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rolecall.extensions import prune, skip
from rolecall.watches import Watch

STORE_RESOURCE = ("", "configmaps")


@dataclass(frozen=True, slots=True)
class KeptThings:
    """What is kept for the CRs of a watch."""

    kind: str
    what: str
    verbs: tuple[str, ...]
    otherwise: str  # what is lost without the rights


def stores_of(watches: Iterable[Watch]) -> list[KeptThings]:
    """All that the engine keeps, watch by watch."""
    found = []
    for watch in watches:
        kind = watch.gvk.kind
        if watch.prune is not None:
            lost = f"nothing of {kind} will be pruned"
            found.append(KeptThings(kind, "inventories", prune.INVENTORY_VERBS, lost))
        if watch.skip_unchanged:
            lost = f"a restart runs each {kind}, changed or not"
            found.append(KeptThings(kind, "unchanged runs", skip.UNCHANGED_VERBS, lost))
    return found
