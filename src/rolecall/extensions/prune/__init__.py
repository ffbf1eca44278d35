"""Deletes what the last good run of a CR no longer wanted."""

from rolecall.extensions.prune.decide import Unwanted, wanted_by, would_prune
from rolecall.extensions.prune.fate import PRUNE_ANNOTATION
from rolecall.extensions.prune.inventory import Entry, Inventory, inventory_of, read_inventory
from rolecall.extensions.prune.keys import Prune
from rolecall.extensions.prune.partial_runs import partial_by
from rolecall.extensions.prune.ports import FinishedRun, PruneEvents, PrunePorts, PruneReport, Store
from rolecall.extensions.prune.preview import PrunePreview
from rolecall.extensions.prune.pruner import Pruner
from rolecall.extensions.prune.store import (
    CONFIG_MAPS,
    INVENTORIES,
    InventoryStore,
    kept_in,
)

__all__ = [
    "CONFIG_MAPS",
    "INVENTORIES",
    "PRUNE_ANNOTATION",
    "Entry",
    "FinishedRun",
    "Inventory",
    "InventoryStore",
    "Prune",
    "PruneEvents",
    "PrunePorts",
    "PrunePreview",
    "PruneReport",
    "Pruner",
    "Store",
    "Unwanted",
    "inventory_of",
    "kept_in",
    "partial_by",
    "read_inventory",
    "wanted_by",
    "would_prune",
]
