"""`rolecall version`: one line for bug reports."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from rolecall import __version__

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = subparsers.add_parser("version", help="print the version")
    parser.set_defaults(run=print_version)


def print_version(_arguments: argparse.Namespace) -> int:
    """Print our version and those of what runs the plays."""
    parts = [f"{name} {version(name)}" for name in ("ansible-core", "ansible-runner", "kopf")]
    print(
        f"rolecall {__version__}, {', '.join(parts)},"
        f" python {platform.python_version()}, {platform.system().lower()}/{platform.machine()}"
    )
    return 0
