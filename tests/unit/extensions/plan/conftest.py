"""The setting of a turn, as tests of the core have it."""

from tests.unit.reconcile.conftest import clock, fake, holding_setting, setting, shop

__all__ = ["clock", "fake", "holding_setting", "setting", "shop"]
