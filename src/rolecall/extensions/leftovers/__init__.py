"""Removes what runs of a CR leave on disk once the CR is gone."""

from rolecall.extensions.leftovers.extension import LeftoversExtension

__all__ = ["LeftoversExtension"]
