"""`rolecall webhooks`: writes config/webhooks, by which the API server asks the operator."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from rolecall.cli import Subparsers, command_parser
from rolecall_dev.checks import Project, webhook_files
from rolecall_dev.cli.project_arguments import add_watches_file
from rolecall_dev.scaffold import Changes, ListItem, with_item, without_item
from rolecall_dev.webhook_manifests import DEFAULT_OVERLAY, FOLDER, ITEM


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "webhooks",
        write_webhooks,
        "Writes config/webhooks from watches.yaml, conversions.yaml and the CRDs, and has"
        " config/default take it up. Where there is nothing to convert and nothing to be asked, it"
        " takes both away. Needs no cluster; the same sources give the same files.",
        examples={
            "rolecall webhooks": "write config/webhooks",
            "rolecall webhooks --watches-file other.yaml": "from another file",
        },
    )
    add_watches_file(parser)


def write_webhooks(arguments: argparse.Namespace) -> int:
    write_manifests(Path.cwd(), arguments.watches_file)
    return 0


def write_manifests(cwd: Path, watches_file: Path) -> None:
    """Make config/webhooks what the project's files want it to be, and say so."""
    wanted = webhook_files(Project(cwd, os.environ, watches_file))
    changes = Changes(cwd)
    for path, text in wanted.items():
        changes.add(path, text)
    default = changes.text_of(DEFAULT_OVERLAY)
    if default is not None:
        item = ListItem(DEFAULT_OVERLAY, "components", f"- {ITEM}", key="components")
        changes.edit(DEFAULT_OVERLAY, (with_item if wanted else without_item)(default, item))
    changed = changes.write(force=True)
    stale = [
        path
        for path in (cwd / FOLDER).rglob("*.yaml")
        if path.relative_to(cwd).as_posix() not in wanted
    ]
    for file in stale:
        file.unlink()
    if not wanted:
        shutil.rmtree(cwd / FOLDER, ignore_errors=True)
        print("nothing to convert and nothing to be asked: no config/webhooks is needed")
        return
    print(f"{FOLDER}: {len(changed) + len(stale)} files changed")
