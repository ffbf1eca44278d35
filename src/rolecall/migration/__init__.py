"""Rewrites the objects of a kind, so that all of them are stored at its newest version."""

from rolecall.migration.by_engine import EngineMigration
from rolecall.migration.rewrite import MigrationCounts, Refused
from rolecall.migration.stored import CRD_GVK, StoredKind, read_stored
from rolecall.migration.whole_kind import Migrated, MigrationError, Pace, migrate, tried

__all__ = [
    "CRD_GVK",
    "EngineMigration",
    "Migrated",
    "MigrationCounts",
    "MigrationError",
    "Pace",
    "Refused",
    "StoredKind",
    "migrate",
    "read_stored",
    "tried",
]
