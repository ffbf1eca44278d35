"""`rolecall check`: reports all problems of a project in one run, without a cluster.

The problems go to stdout, because they are the requested output. Exit codes: 0 without an error, 2 with
one; with `--strict` a warning counts as an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from importlib import metadata
from pathlib import Path

from rolecall.cli import Subparsers, command_parser
from rolecall.errors import InputError
from rolecall_dev.checks import (
    FORMATS,
    Project,
    check_project,
    conversions_schema,
    watches_schema,
)
from rolecall_dev.cli.project_arguments import add_watches_file

# From here on conditions must be booleans, and templates keep the kind of their value.
_STRICT = (2, 19)
_SCHEMAS = {"watches": watches_schema, "conversions": conversions_schema}


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "check",
        run,
        "Reads the files of the project in this folder and reports what would not"
        " work, or not as expected: undefined variables, misspelt modules and arguments, API"
        " versions that do not exist, samples that their CRD refuses, missing rights. Needs no cluster."
        " Exit codes: 0 nothing keeps the operator from working, 2 something does.",
        examples={
            "rolecall check": "this folder",
            "rolecall check --strict -o github": "in a GitHub workflow",
            "rolecall check --for-core 2.19": "before an upgrade of ansible-core",
        },
    )
    add_watches_file(parser)
    parser.add_argument(
        "--crds",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="folders with CRDs (default: crds and config/crd/bases, as far as they are there)",
    )
    parser.add_argument(
        "--rbac",
        type=Path,
        metavar="DIR",
        help="folder with roles and bindings (default: config/rbac, if it is there)",
    )
    parser.add_argument(
        "--for-core",
        type=_core_version,
        metavar="VERSION",
        help="report what breaks with this ansible-core, 2.19 or newer (default: the installed one)",
    )
    _add_output_options(parser)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        choices=list(FORMATS),
        default="text",
        help="output format: text, json, sarif (SARIF 2.1.0) or github (annotations of a pull request)"
        " (default: text)",
    )
    parser.add_argument(
        "--round-trips",
        type=int,
        default=100,
        metavar="NUMBER",
        help="convert so many random objects of each version to each other one and back"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail on warnings and missing collections too",
    )
    parser.add_argument(
        "--print-schema",
        nargs="?",
        const="watches",
        choices=list(_SCHEMAS),
        help="print the JSON Schema of watches.yaml (or conversions.yaml: `--print-schema=conversions`)"
        " for editors, and check nothing",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.print_schema:
        schema = _SCHEMAS[arguments.print_schema]()
        print(json.dumps(schema, indent=2, ensure_ascii=False))
        return 0
    checked = check_project(
        Project(
            cwd=Path.cwd(),
            environment=os.environ,
            watches_file=arguments.watches_file,
            crd_folders=arguments.crds,
            rbac_folder=arguments.rbac,
            round_trips=max(1, arguments.round_trips),
            is_strict=arguments.strict,
            for_strict_core=(arguments.for_core or _core_here()) >= _STRICT,
        )
    )
    shown = FORMATS[arguments.output](checked)
    if shown:
        print(shown)
    errors = len(checked.findings.errors)
    warnings = len(checked.findings.problems) - errors
    is_bad = errors or (arguments.strict and warnings)
    return InputError.exit_code if is_bad else 0


def _core_version(text: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a version; write one such as 2.19")
    return int(found[1]), int(found[2])


def _core_here() -> tuple[int, int]:
    """Where there is none, it will be a new one."""
    try:
        return _core_version(metadata.version("ansible-core"))
    except metadata.PackageNotFoundError:
        return _STRICT
