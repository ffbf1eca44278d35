"""Chooses the adapter for the ansible-core at hand."""

from __future__ import annotations

import importlib

from rolecall_warm.hooks.core import Core
from rolecall_warm.hooks.digests import version_of_core
from rolecall_warm.hooks.sources import family_of
from rolecall_warm.hooks.streams import StreamSettings


def core_at_hand(streams: StreamSettings) -> Core:
    """The adapter; ImportError where a name that it needs is gone."""
    family = family_of(version_of_core())
    module = importlib.import_module(f"rolecall_warm.hooks.core_{family.replace('.', '_')}")
    core: Core = getattr(module, f"Core{family.replace('.', '')}")(streams)
    return core
