"""Runs plays in children of a warm host; see docs/concepts/warm.md."""

from rolecall.runner.warm.hosts import HostLimits, Hosts
from rolecall.runner.warm.runner import WarmRunner

__all__ = ["HostLimits", "Hosts", "WarmRunner"]
