"""`rolecall convert`: a custom resource at another version, as the operator would convert it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from rolecall.conversion import FILE, load_conversions
from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall_dev.cli.cr_file import read_objects

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "convert",
        help="show a custom resource at another version",
        description="Prints the custom resources of a file at another version of their kind, by the"
        " rules of conversions.yaml. Needs no cluster, and changes nothing.",
    )
    parser.add_argument("--file", required=True, metavar="FILE", help="manifest, or - for stdin")
    parser.add_argument("--to", required=True, metavar="VERSION", help="such as v1beta1")
    parser.add_argument(
        "--conversions",
        type=Path,
        default=FILE,
        metavar="FILE",
        help="the rules (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    conversions = {(it.group, it.kind): it for it in load_conversions(arguments.conversions)}
    converted: list[Json] = []
    for found in read_objects(arguments.file):
        group = str(found["apiVersion"]).rpartition("/")[0]
        conversion = conversions.get((group, found["kind"]))
        if conversion is None:
            raise InputError(
                f"{arguments.file}: `{found['kind']}` in `{group}` has no conversion",
                hint=f"{arguments.conversions} converts "
                + (", ".join(f"`{kind}`" for _, kind in conversions) or "nothing"),
            )
        converted.append(conversion.convert(found, arguments.to))
    yaml.safe_dump_all(converted, sys.stdout, sort_keys=False, allow_unicode=True)
    return 0
