"""Restores lost owner references of objects."""

from rolecall.extensions.owners.lost_owners import OWNER_RESTORED, LostOwners

__all__ = ["OWNER_RESTORED", "LostOwners"]
