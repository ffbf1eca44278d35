"""Everything here is asked for by name, except the leak check, which is cheap."""

from __future__ import annotations

import signal

pytest_plugins = [
    "rolecall_dev.pytest_plugin",
    "tests.fixtures.built",
    "tests.fixtures.collector",
    "tests.fixtures.figures",
    "tests.fixtures.leaks",
    "tests.fixtures.real_cluster",
    "tests.fixtures.stock_runs",
    "tests.fixtures.tiers",
    "tests.fixtures.shares",  # it imports the one above
]

# A shell has its background jobs ignore Ctrl-C, and what a test starts and interrupts would do so, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
