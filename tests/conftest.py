"""Everything here is asked for by name, except the leak check, which is cheap."""

from __future__ import annotations

pytest_plugins = [
    "tests.fixtures.cluster",
    "tests.fixtures.leaks",
    "tests.fixtures.real_cluster",
    "tests.fixtures.tiers",
]
