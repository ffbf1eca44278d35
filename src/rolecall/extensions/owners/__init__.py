"""Gives objects their owner back that somebody took away from them."""

from rolecall.extensions.owners.lost_owners import OWNER_RESTORED, LostOwners

__all__ = ["OWNER_RESTORED", "LostOwners"]
