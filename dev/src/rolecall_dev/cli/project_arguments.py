"""What several verbs ask about the project in this folder, asked the same way."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_watches_file(parser: argparse.ArgumentParser) -> None:
    """Where the project's entries are."""
    parser.add_argument(
        "--watches-file",
        type=Path,
        default=Path("watches.yaml"),
        metavar="FILE",
        help="which kinds run which roles (default: %(default)s)",
    )
