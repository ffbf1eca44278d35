"""Deletes what the last good run of a CR no longer wanted."""

from rolecall.prune.decide import Unwanted, must_be_named, wanted_by, would_prune
from rolecall.prune.fate import PRUNE_ANNOTATION
from rolecall.prune.inventory import Entry, Inventory, inventory_of, read_inventory
from rolecall.prune.partial_runs import partial_by
from rolecall.prune.ports import FinishedRun, PruneEvents, PrunePorts, PruneReport, Store
from rolecall.prune.preview import Foreseen, ForeseenObject, PrunePreview
from rolecall.prune.pruner import Pruner
from rolecall.prune.store import (
    CONFIG_MAPS,
    INVENTORIES,
    INVENTORY_VERBS,
    STORE_LABEL,
    InventoryStore,
    kept_in,
)

__all__ = [
    "CONFIG_MAPS",
    "INVENTORIES",
    "INVENTORY_VERBS",
    "PRUNE_ANNOTATION",
    "STORE_LABEL",
    "Entry",
    "FinishedRun",
    "Foreseen",
    "ForeseenObject",
    "Inventory",
    "InventoryStore",
    "PruneEvents",
    "PrunePorts",
    "PrunePreview",
    "PruneReport",
    "Pruner",
    "Store",
    "Unwanted",
    "inventory_of",
    "kept_in",
    "must_be_named",
    "partial_by",
    "read_inventory",
    "wanted_by",
    "would_prune",
]
