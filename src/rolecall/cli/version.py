"""`rolecall version`: what is installed here, and which way runs go; for bug reports."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import entry_points
from pathlib import Path

from rolecall import __version__
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.runner import find_collection, version_of, why_stock

_PACKAGES = ("rolecall-warm", "kopf", "ansible-core", "ansible-runner", "kubernetes")
_COLLECTION = "kubernetes.core"
_MISSING = "not installed"


def add_parser(subparsers: Subparsers) -> None:
    command_parser(
        subparsers,
        "version",
        print_version,
        "Prints what is installed, and how runs start.",
        examples={
            "rolecall version": "all versions",
            "rolecall --version": "that of rolecall alone",
        },
    )


def print_version(_arguments: argparse.Namespace) -> int:
    """Print our version, those of what runs the plays, and whether runs are warm here."""
    system = f"{platform.system().lower()}/{platform.machine()}"
    lines = [
        ("rolecall", __version__),
        ("python", f"{platform.python_version()}, {system}, {sys.executable}"),
        *((name, version_of(name) or _MISSING) for name in _PACKAGES),
    ]
    found = find_collection(_COLLECTION, os.environ, Path.cwd())
    lines.append((_COLLECTION, f"{found[0]} in {found[1]}" if found else "not found"))
    extensions = sorted(entry_points(group="rolecall.extensions").names)
    lines.append(("extensions", ", ".join(extensions)))
    reason = why_stock()
    lines.append(("runs", f"stock, because {reason}" if reason else "warm"))
    for name, value in lines:
        print(f"{name + ':':<16} {value}")
    return 0
