"""`rolecall init`: a new project in this folder, with the flags of `operator-sdk init`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rolecall.cli import Subparsers, command_parser
from rolecall.errors import InputError
from rolecall_dev.cli.create import add_kind_flags, checked_crd_version, wanted_kind, written
from rolecall_dev.scaffold import Changes, NewProject, add_kind, add_project

_PLUGINS = ("ansible", "ansible.sdk.operatorframework.io/v1")


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "init",
        run,
        "Write the files of a new project into this folder: watches.yaml, config/,"
        " molecule/, Makefile, Dockerfile. With --kind, add a first kind as `rolecall create api` does."
        " Nothing is written unless everything can be.",
        examples={
            "rolecall init --domain example.com": "without a kind",
            "rolecall init --domain example.com --group web --version v1 --kind Website": "with a kind",
        },
    )
    parser.add_argument(
        "--domain", default="my.domain", help="what API groups end with (%(default)s)"
    )
    parser.add_argument("--project-name", default="", help="default: the name of this folder")
    parser.add_argument(
        "--plugins", default="ansible", help="accepted for scripts that were written for the SDK"
    )
    add_kind_flags(parser, is_required=False)


def run(arguments: argparse.Namespace) -> int:
    if arguments.plugins not in _PLUGINS:
        raise InputError(f"plugin `{arguments.plugins}` is not known; `ansible` is the only one")
    checked_crd_version(arguments)
    changes = Changes(Path.cwd())
    wanted = NewProject(arguments.domain, arguments.project_name)
    project = add_project(changes, wanted, force=arguments.force)
    kind = None
    if any((arguments.group, arguments.version, arguments.kind)):
        kind = wanted_kind(arguments, changes)
        add_kind(changes, project, kind, force=True)
    written(changes, force=arguments.force)
    if kind is None:
        print("next: `rolecall create api --group G --version V --kind K`")
    return 0
